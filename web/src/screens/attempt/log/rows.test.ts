import type { ExecutionProcess } from "@forge/client";
import { expect, it } from "vitest";
import type { Entries, EntryRow } from "../../../live/entries";
import { sampleProcess } from "../sample-process";
import { indexOfApproval, rowsOf } from "./rows";

const process = (id: string, given: Partial<ExecutionProcess> = {}): ExecutionProcess =>
  sampleProcess({ ...given, id });

const asks = (processId: string): EntryRow => ({
  kind: "entry",
  key: `${processId}:0`,
  processId,
  entry: {
    timestamp: null,
    content: "",
    metadata: null,
    entry_type: {
      type: "tool_use",
      tool_name: "Bash",
      action_type: { action: "command_run", command: "ls", result: null },
      status: { status: "pending_approval", approval_id: "q", requested_at: "", timeout_at: "" },
    },
  },
});
const entries = (...rows: EntryRow[]): Entries => ({ rows, dropped: 0, todos: undefined });

it("puts heads, prompts and entries of all processes into one list, and keeps what has not changed", () => {
  const one = process("1");
  const read = new Map([["1", entries(asks("1"))]]);
  const before = rowsOf([one], read);
  const after = rowsOf([one, process("2")], read);
  expect(after.map(({ key }) => key)).toEqual(["1:head", "1:prompt", "1:0", "2:head", "2:prompt"]);
  for (const [at, row] of before.entries()) expect(after[at]).toBe(row);
  expect(indexOfApproval(after, "q")).toBe(2);
  expect(indexOfApproval(after, "other")).toBe(-1);
});

it("says at the end that an agent works, unless it waits for somebody", () => {
  const running = process("1", { status: "running" });
  expect(rowsOf([running], new Map()).at(-1)?.kind).toBe("working");
  expect(rowsOf([running], new Map(), true).at(-1)?.kind).toBe("prompt");
  expect(rowsOf([{ ...running, parked_until: "2026-01-01T12:00:00Z" }], new Map()).at(-1)?.kind).toBe("prompt");
});

it("says how much of the beginning is left out", () => {
  const rows = rowsOf([process("1")], new Map([["1", { ...entries(asks("1")), dropped: 7 }]]));
  expect(rows[2]).toMatchObject({ kind: "left-out", count: 7 });
});
