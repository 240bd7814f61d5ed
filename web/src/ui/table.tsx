// Tables of figures: one height of row, numbers right-aligned, a head that stays. A table that is wider than its place
// scrolls in itself, so that the page never does.

import type { ComponentProps, ReactNode } from "react";
import { cx } from "./class";

interface TableProps {
  /** What it lists; read out, and the name of the place that scrolls. */
  label: string;
  /** The head stays in sight inside a place that scrolls by itself. */
  sticky?: boolean;
  className?: string;
  children: ReactNode;
}

export function Table({ label, sticky, className, children }: TableProps) {
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be reachable by keyboard
      tabIndex={0}
      className={cx("relative min-w-0 overflow-auto focus-visible:outline-offset-[-2px]", className)}
    >
      <table
        className={cx(
          "w-full border-collapse text-sm tabular",
          sticky && "[&_thead]:sticky [&_thead]:top-0 [&_thead]:z-10 [&_thead]:bg-canvas",
        )}
      >
        {children}
      </table>
    </section>
  );
}

interface CellProps extends ComponentProps<"td"> {
  /** A figure: right-aligned. */
  number?: boolean;
}

const CELL = "px-2 first:pl-4 last:pr-4";

export function Th({ number, className, ...rest }: CellProps) {
  return (
    <th
      scope="col"
      {...rest}
      className={cx(
        CELL,
        "h-8 whitespace-nowrap border-line border-b font-medium text-faint text-xs",
        number ? "text-right" : "text-left",
        className,
      )}
    />
  );
}

export function Td({ number, className, ...rest }: CellProps) {
  return (
    <td
      {...rest}
      className={cx(CELL, "h-9 border-line border-b py-1", number && "whitespace-nowrap text-right", className)}
    />
  );
}
