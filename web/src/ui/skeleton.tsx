/** The place of a list that is on its way, at its height. */
export function Skeleton({ rows = 6 }: { rows?: number }) {
  return (
    <div role="status" aria-label="Loading" className="flex flex-col">
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same
        <div key={row} className="flex h-9 items-center border-line border-b px-4">
          <div className="h-3 rounded-sm bg-press" style={{ width: `${30 + ((row * 37) % 45)}%` }} />
        </div>
      ))}
    </div>
  );
}
