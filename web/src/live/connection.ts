// Whether the server can be reached, as the streams notice it.
// Invariant: only the stream of events, which is open as long as the page is and says hello when it is back, says "lost";
// one word on any stream is enough to say "live" again. Another stream that is cut a moment later may have nothing to
// tell when it goes on, and what it said would stay.

import { useSyncExternalStore } from "react";

export type Connection = { state: "live" } | { state: "lost"; since: number };

const readers = new Set<() => void>();
let connection: Connection = { state: "live" };

function turn(next: Connection): void {
  connection = next;
  for (const reader of readers) reader();
}

export function noteCut(): void {
  if (connection.state === "live") turn({ state: "lost", since: Date.now() });
}

export function noteWord(): void {
  if (connection.state === "lost") turn({ state: "live" });
}

function subscribe(reader: () => void): () => void {
  readers.add(reader);
  return () => readers.delete(reader);
}

export function useConnection(): Connection {
  return useSyncExternalStore(subscribe, () => connection);
}
