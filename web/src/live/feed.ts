// The stream of events, for everyone on the page who needs it.
// Invariant: from the number that `begin` was called with, listeners get every event, in order. Where events are missing
// `begin` is called again, and whatever is older than its number cannot be trusted.

import type { ForgeEvent } from "@forge/client";
import { forge } from "../api/forge";
import { noteCut, noteWord } from "./connection";

export interface Listener {
  event: (event: ForgeEvent) => void;
  /** Events come from here on, without a gap. */
  begin?: (after: number) => void;
  /** A connection is open again. What is in no log may have changed meanwhile. */
  open?: () => void;
}

const listeners = new Set<Listener>();
let begun: number | undefined;

export function listen(listener: Listener): () => void {
  listeners.add(listener);
  if (begun !== undefined) listener.begin?.(begun);
  return () => listeners.delete(listener);
}

/** Follows the stream until the signal ends it. */
export async function follow(signal: AbortSignal): Promise<void> {
  let missing = true;
  const onOpen = (after = 0): void => {
    noteWord();
    if (missing) {
      missing = false;
      begun = after;
      for (const { begin } of listeners) begin?.(after);
    }
    for (const { open } of listeners) open?.();
  };
  // Reported before `onOpen`.
  const onGap = (): void => {
    missing = true;
  };
  const options = { signal, view: "board" as const, onOpen, onReconnect: noteCut, onGap };
  for await (const event of forge.watchEvents(options)) {
    noteWord();
    for (const listener of listeners) listener.event(event);
  }
}
