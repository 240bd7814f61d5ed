import { cx } from "../../ui/class";

interface Props {
  title: string;
  total: string;
  rows: readonly { title: string; value: string; ground: string }[];
  /** The middle of its column, and the width of the plot. */
  x: number;
  width: number;
}

/** The values of one column, beside it on the side that has room. */
export function PlotTip({ title, total, rows, x, width }: Props) {
  const right = x > width / 2;
  return (
    <div
      aria-hidden
      className="pointer-events-none absolute top-2 z-10 w-56 max-w-[70%] rounded-md border border-line bg-raised p-2.5 text-xs shadow-pop"
      style={right ? { right: width - x + 12 } : { left: x + 12 }}
    >
      <p className="flex justify-between gap-3 font-medium">
        <span>{title}</span>
        <span className="tabular">{total}</span>
      </p>
      {rows.map(({ title: name, value, ground }) => (
        <p key={name} className="mt-1 flex items-center gap-1.5 text-muted">
          <span className={cx("size-2 shrink-0 rounded-sm", ground)} />
          <span className="min-w-0 flex-1 truncate">{name}</span>
          <span className="tabular">{value}</span>
        </p>
      ))}
    </div>
  );
}
