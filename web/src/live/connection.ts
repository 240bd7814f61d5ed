// Whether the server can be reached, as the streams notice it.
// Invariant: only the stream of events, which is open as long as the page is and says hello when it is back, says "lost";
// one word on any stream is enough to say "live" again. Another stream that is cut a moment later may have nothing to
// send when it continues, and what it said would stay.

import { makeStore, useStore } from "../ui/store";

export type Connection = { state: "live" } | { state: "lost"; since: number };

const connection = makeStore<Connection>({ state: "live" });

export function noteCut(): void {
  if (connection.read().state === "live") connection.set({ state: "lost", since: Date.now() });
}

export function noteWord(): void {
  if (connection.read().state === "lost") connection.set({ state: "live" });
}

export const useConnection = (): Connection => useStore(connection);
