// Times that move on while they are looked at: one timer for the whole page.

import { useSyncExternalStore } from "react";
import { ago, duration } from "./format";

const readers = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(reader: () => void): () => void {
  readers.add(reader);
  if (timer === undefined) {
    // Nobody has looked at the clock for a while.
    now = Date.now();
    timer = setInterval(() => {
      now = Date.now();
      for (const each of readers) each();
    }, 1000);
  }
  return () => {
    readers.delete(reader);
    if (readers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

/** How long it has been since `since`, second by second. */
export function Elapsed({ since }: { since: string }) {
  const from = Date.parse(since);
  return <span className="tabular">{duration(Math.max(useNow(), from) - from)}</span>;
}

export function Ago({ time }: { time: string }) {
  // Drawn again when its words change, not each second: a board has many of them.
  const shown = useSyncExternalStore(subscribe, () => ago(time, now));
  return (
    <time dateTime={time} title={new Date(time).toLocaleString()}>
      {shown}
    </time>
  );
}
