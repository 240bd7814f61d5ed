import type { BranchStatus, ExecutionProcess } from "@forge/client";
import { expect, test } from "vitest";
import { landedAs } from "./landed";
import { conflictTitle, resolveTurn } from "./resolve";

const STATUS: BranchStatus = {
  commits_behind: 0,
  commits_ahead: 1,
  has_uncommitted_changes: true,
  head_oid: null,
  uncommitted_count: 1,
  untracked_count: 0,
  target_branch_name: "main",
  remote_commits_behind: null,
  remote_commits_ahead: null,
  merges: [],
  is_rebase_in_progress: true,
  conflict_op: "rebase",
  conflicted_files: ["README.md"],
};

const turn = (prompt: string, status: ExecutionProcess["status"] = "completed") =>
  ({
    run_reason: "codingagent",
    status,
    dropped: false,
    executor_action: { typ: { type: "CodingAgentFollowUpRequest", prompt }, next_action: null },
  }) as unknown as ExecutionProcess;

const HANDED =
  "The rebase of 'forge/a' onto 'main' has stopped in this worktree and has to be finished.\n\nThese files";

test("only the message that hands a conflict over makes a resolve turn, and only the last one", () => {
  const handed = turn(HANDED);
  expect(resolveTurn([turn("Say hello"), handed])).toBe(handed);
  expect(resolveTurn([handed, turn("Say hello")])).toBeUndefined();
  expect(resolveTurn([turn("Why has The rebase of 'x' stopped?")])).toBeUndefined();
});

test("a conflict that outlives the agent's turn is said", () => {
  expect(conflictTitle(STATUS, undefined)).toBe("Rebase paused: 1 conflicting file");
  expect(conflictTitle(STATUS, turn(HANDED))).toBe("The agent finished, but README.md still has conflicts");
  const two = { ...STATUS, conflicted_files: ["a", "b"] };
  expect(conflictTitle(two, turn(HANDED, "failed"))).toBe("The agent failed, but 2 files still have conflicts");
  const none = { ...STATUS, conflicted_files: [] };
  expect(conflictTitle(none, turn(HANDED))).toBe("The agent finished, but the rebase is not finished");
  expect(conflictTitle(none, undefined)).toBe("Rebase in progress: no conflicts left");
  expect(conflictTitle(STATUS, turn(HANDED, "running"))).toBe("The agent is resolving the conflicts");
});

test("an attempt has landed while its target has all of it", () => {
  const merge = { type: "direct", merge_commit: "0123456789" } as BranchStatus["merges"][number];
  const landed = { ...STATUS, merges: [merge], commits_ahead: 0, has_uncommitted_changes: false };
  expect(landedAs(landed)).toBe(merge);
  expect(landedAs({ ...landed, commits_ahead: 1 })).toBeUndefined();
  expect(landedAs({ ...landed, merges: [] })).toBeUndefined();
  expect(landedAs(undefined)).toBeUndefined();
});
