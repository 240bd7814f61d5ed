// The end of a list in a flood. A virtual list measures rows before it shows them, and in a flood they are gone before
// that. So while many come at once, the last ones are drawn plainly over the list, which waits until it is calm or until
// nothing more can come.

import { type ReactNode, useEffect, useRef, useState } from "react";
import { cx } from "../../ui/class";

const FLOOD = 60;
const CALM_MS = 400;
/** How long the list has to measure itself before it is uncovered. */
const SETTLE_MS = 150;

type Phase = "calm" | "flood" | "settling";

interface Shown<T> {
  /** What the list gets. */
  listed: readonly T[];
  /** What is drawn over it. */
  tail: readonly T[] | undefined;
}

/** `leastPx` is a height that a row has at least; a list that `isWhole` gets no more rows. */
export function useTail<T>(
  rows: readonly T[],
  following: boolean,
  isWhole: boolean,
  leastPx: (row: T) => number,
): Shown<T> {
  const [phase, setPhase] = useState<Phase>("calm");
  const count = useRef(rows.length);
  const listed = useRef(rows);
  useEffect(() => {
    const grown = rows.length - count.current;
    count.current = rows.length;
    // A list that lets go of its oldest rows shrinks, in a flood and only there.
    if (grown > FLOOD || grown < 0) setPhase("flood");
  }, [rows]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new list begins the wait again
  useEffect(() => {
    if (phase !== "flood") return;
    const timer = setTimeout(() => setPhase("settling"), isWhole ? 0 : CALM_MS);
    return () => clearTimeout(timer);
  }, [phase, rows, isWhole]);
  useEffect(() => {
    if (phase !== "settling") return;
    const timer = setTimeout(() => setPhase("calm"), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [phase]);
  if (phase !== "flood" || !following) listed.current = rows;
  return {
    listed: listed.current,
    tail: phase !== "calm" && following ? endOf(rows, innerHeight, leastPx) : undefined,
  };
}

/** The last rows, as many as fill `px`. */
export function endOf<T>(rows: readonly T[], px: number, leastPx: (row: T) => number): readonly T[] {
  let filled = 0;
  const at = rows.findLastIndex((row) => {
    filled += leastPx(row);
    return filled >= px;
  });
  return rows.slice(Math.max(0, at));
}

/** Wheels and fingers go through to the list below. */
export function TailView({ className, children }: { className: string; children: ReactNode }) {
  return (
    <div
      aria-hidden
      inert
      className={cx(
        "pointer-events-none absolute inset-0 flex flex-col justify-end overflow-hidden [&>*]:shrink-0",
        className,
      )}
    >
      {children}
    </div>
  );
}
