// The transcript of an attempt as one list: for each process its head, what was asked, and what came of it.
// Invariant: a row that has not changed is the same object from one list to the next.

import type { ExecutionProcess } from "@forge/client";
import type { Entries, EntryRow } from "../../../live/entries";
import { promptOf } from "../attempt-standing";

export interface HeadRow {
  kind: "head";
  key: string;
  process: ExecutionProcess;
}

export interface PromptRow {
  kind: "prompt";
  key: string;
  process: ExecutionProcess;
  text: string;
}

export interface LeftOutRow {
  kind: "left-out";
  key: string;
  processId: string;
  count: number;
}

export interface WorkingRow {
  kind: "working";
  key: "working";
}

export type Row = HeadRow | PromptRow | LeftOutRow | EntryRow | WorkingRow;

const heads = new WeakMap<ExecutionProcess, readonly (HeadRow | PromptRow)[]>();
const WORKING: WorkingRow = { kind: "working", key: "working" };

function headOf(process: ExecutionProcess): readonly (HeadRow | PromptRow)[] {
  const known = heads.get(process);
  if (known) return known;
  const text = promptOf(process);
  const rows: (HeadRow | PromptRow)[] = [{ kind: "head", key: `${process.id}:head`, process }];
  if (text !== undefined) rows.push({ kind: "prompt", key: `${process.id}:prompt`, process, text });
  heads.set(process, rows);
  return rows;
}

/** `entries` of a process that is not loaded are undefined. */
export function rowsOf(
  processes: readonly ExecutionProcess[],
  entries: ReadonlyMap<string, Entries>,
  /** An agent that waits for a person is not working. */
  isAsking = false,
): Row[] {
  const rows: Row[] = [];
  for (const process of processes) {
    rows.push(...headOf(process));
    const known = entries.get(process.id);
    if (known === undefined) continue;
    if (known.dropped > 0) {
      rows.push({ kind: "left-out", key: `${process.id}:left-out`, processId: process.id, count: known.dropped });
    }
    for (const row of known.rows) rows.push(row);
  }
  const last = processes.at(-1);
  if (isAsking || last?.status !== "running" || last.run_reason !== "codingagent" || last.parked_until) return rows;
  rows.push(WORKING);
  return rows;
}

const LINE_PX = 20;

/** A height that a row has at least. Messages are shown whole, and no more than every other line of them is blank. */
export function leastPx(row: Row): number {
  if (row.kind !== "entry" || row.entry.entry_type.type !== "assistant_message") return LINE_PX;
  return Math.max(1, row.entry.content.split("\n").length / 2) * LINE_PX;
}

/** Where a question stands in the list. */
export function indexOfApproval(rows: readonly Row[], approvalId: string): number {
  return rows.findLastIndex((row) => {
    if (row.kind !== "entry" || row.entry.entry_type.type !== "tool_use") return false;
    const { status } = row.entry.entry_type;
    return status.status === "pending_approval" && status.approval_id === approvalId;
  });
}
