// The end of a list in a flood. A virtual list measures rows before it shows them, and in a flood they are gone before
// that. So while many come at once, the last ones are drawn plainly over the list, which waits until it is calm.

import { type ReactNode, useEffect, useRef, useState } from "react";
import { cx } from "../../ui/class";

const FLOOD = 60;
/** No row is lower than that, so these fill the window, and not more. */
const ROW_PX = 20;
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

export function useTail<T>(rows: readonly T[], following: boolean): Shown<T> {
  const [phase, setPhase] = useState<Phase>("calm");
  const count = useRef(rows.length);
  const listed = useRef(rows);
  useEffect(() => {
    const grown = rows.length - count.current;
    count.current = rows.length;
    // A list that lets go of its oldest rows shrinks, in a flood and only there.
    if (grown > FLOOD || grown < 0) setPhase("flood");
  }, [rows]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new list begins the wait anew
  useEffect(() => {
    if (phase !== "flood") return;
    const timer = setTimeout(() => setPhase("settling"), CALM_MS);
    return () => clearTimeout(timer);
  }, [phase, rows]);
  useEffect(() => {
    if (phase !== "settling") return;
    const timer = setTimeout(() => setPhase("calm"), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [phase]);
  if (phase !== "flood" || !following) listed.current = rows;
  return {
    listed: listed.current,
    tail: phase !== "calm" && following ? rows.slice(-Math.ceil(innerHeight / ROW_PX)) : undefined,
  };
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
