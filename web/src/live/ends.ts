// That an agent came to the end of a turn, for whoever notifies the person.
// Invariant: an end is reported once, however often its process is sent again.

import type { ExecutionProcess } from "@forge/client";

const listeners = new Set<(process: ExecutionProcess) => void>();
/** Enough to know what was reported lately; ends of long ago do not come back. */
const MOST = 200;
const reported = new Set<string>();

export function onAgentEnd(listener: (process: ExecutionProcess) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function noteProcess(process: ExecutionProcess): void {
  if (process.run_reason !== "codingagent" || process.status === "running" || reported.has(process.id)) return;
  reported.add(process.id);
  for (const oldest of reported) {
    if (reported.size <= MOST) break;
    reported.delete(oldest);
  }
  for (const listener of listeners) listener(process);
}
