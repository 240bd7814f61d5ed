// Tables of figures: one height of row, numbers right-aligned, a head that stays. A table that is wider than its place
// scrolls in itself, so that the page never does.

import { type ComponentProps, type ReactNode, type RefObject, useLayoutEffect, useRef, useState } from "react";
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
  const place = useRef<HTMLElement>(null);
  const scrolls = useScrolls(place);
  return (
    <section
      ref={place}
      aria-label={label}
      // What scrolls must be reachable by keyboard.
      tabIndex={scrolls ? 0 : undefined}
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

/** Whether there is more in it than it shows. */
function useScrolls(place: RefObject<HTMLElement | null>): boolean {
  const [scrolls, setScrolls] = useState(false);
  useLayoutEffect(() => {
    const box = place.current;
    if (box === null) return;
    const look = (): void =>
      setScrolls(box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1);
    const watch = new ResizeObserver(look);
    watch.observe(box);
    if (box.firstElementChild) watch.observe(box.firstElementChild);
    return () => watch.disconnect();
  }, [place]);
  return scrolls;
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
      className={cx(
        CELL,
        "h-9 border-line border-b py-1 pointer-coarse:h-11",
        number && "whitespace-nowrap text-right",
        className,
      )}
    />
  );
}
