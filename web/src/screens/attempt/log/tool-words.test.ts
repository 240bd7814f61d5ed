import type { ActionType, ToolStatus, ToolUseEntry } from "@forge/client";
import { expect, it } from "vitest";
import { diffLines } from "./diff-lines";
import { hasMore, outcomeOf, progress, wordsOf } from "./tool-words";

const use = (action_type: ActionType, status: ToolStatus = { status: "success" }): ToolUseEntry => ({
  type: "tool_use",
  tool_name: "Tool",
  action_type,
  status,
});
const command = (text: string, code?: number): ActionType => ({
  action: "command_run",
  command: text,
  result: code === undefined ? null : { exit_status: { type: "exit_code", code }, output: "" },
});
const DIFF =
  "--- a/x\n+++ b/x\n@@ -3,3 +3,4 @@\n same\n-old\n+new\n+newer\n end\n@@ -20 +21 @@ fn main\n--- dashes\n+x\n";

it("describes a command in the tense of its state", () => {
  const say = (status: ToolStatus, isAlive = true) => {
    const entry = use(command("npm test\n--all"), status);
    const { verb, object } = wordsOf(entry, outcomeOf(entry, isAlive));
    return `${verb} ${object}`;
  };
  expect(say({ status: "created" })).toBe("Running npm test");
  expect(say({ status: "success" })).toBe("Ran npm test");
  expect(say({ status: "failed" })).toBe("Ran npm test");
  expect(say({ status: "denied", reason: null })).toBe("Run npm test");
  expect(say({ status: "created" }, false)).toBe("Run npm test");
});

it("takes a command that ended with an error for failed, and one whose agent is gone for cut off", () => {
  expect(outcomeOf(use(command("false", 1)), true)).toBe("failed");
  expect(outcomeOf(use(command("true", 0)), true)).toBe("ok");
  expect(outcomeOf(use(command("true"), { status: "created" }), false)).toBe("cut-off");
});

it("counts what an edit adds and takes away", () => {
  const edit = use({
    action: "file_edit",
    path: "x",
    changes: [{ action: "edit", unified_diff: DIFF, has_line_numbers: true }],
  });
  expect(wordsOf(edit, "ok")).toMatchObject({ verb: "Edited", object: "x", added: 3, removed: 2 });
  const write = use({ action: "file_edit", path: "y", changes: [{ action: "write", content: "a\nb\n" }] });
  expect(wordsOf(write, "ok")).toMatchObject({ verb: "Wrote", added: 2, removed: 0 });
});

it("reads the hunks of a diff, with and without line numbers", () => {
  const lines = diffLines(DIFF, true);
  expect(lines.map(({ kind, number }) => `${kind} ${number ?? ""}`.trim())).toEqual([
    "same 3",
    "removed 4",
    "added 4",
    "added 5",
    "same 6",
    "gap",
    "removed 20",
    "added 21",
  ]);
  expect(lines[6]?.text).toBe("-- dashes");
  expect(diffLines(DIFF, false)[0]).toEqual({ kind: "same", text: "same" });
});

it("opens only what has more to show", () => {
  expect(hasMore(command("ls"))).toBe(false);
  expect(hasMore(command("ls\npwd"))).toBe(true);
  expect(hasMore({ action: "file_read", path: "x" })).toBe(false);
});

it("counts what is done", () => {
  expect(progress([{ status: "completed" }, { status: "in_progress" }, { status: "pending" }])).toBe("1/3");
  expect(progress([])).toBe("");
});
