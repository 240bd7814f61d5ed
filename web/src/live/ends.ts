// That an agent came to the end of a turn, for whoever wants to tell the person.
// Invariant: an end is told once, however often its process is told again.

import type { ExecutionProcess } from "@forge/client";

const listeners = new Set<(process: ExecutionProcess) => void>();
/** Enough to know what was told lately; ends of long ago do not come back. */
const MOST = 200;
const told = new Set<string>();

export function onAgentEnd(listener: (process: ExecutionProcess) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function noteProcess(process: ExecutionProcess): void {
  if (process.run_reason !== "codingagent" || process.status === "running" || told.has(process.id)) return;
  told.add(process.id);
  for (const oldest of told) {
    if (told.size <= MOST) break;
    told.delete(oldest);
  }
  for (const listener of listeners) listener(process);
}
