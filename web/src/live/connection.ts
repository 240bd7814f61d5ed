// Whether the server can be reached, as the streams notice it.
// Invariant: one cut stream is enough to say "lost"; one word from the server is enough to say "live" again.

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
