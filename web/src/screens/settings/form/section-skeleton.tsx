/** The shape of a section while its values are on their way. */
export function Skeleton() {
  return (
    <div role="status" aria-label="Loading" className="rounded-lg border border-line bg-surface p-4 shadow-card">
      <div className="h-5 w-40 rounded-sm bg-sunken" />
      {[0, 1, 2].map((each) => (
        <div key={each} className="mt-4">
          <div className="h-3 w-24 rounded-sm bg-sunken" />
          <div className="mt-2 h-8 rounded-md bg-sunken" />
        </div>
      ))}
    </div>
  );
}
