import type { BranchStatus } from "@forge/client";
import { expect, test } from "vitest";
import { landedAs } from "./landed";
import { conflictTitle } from "./resolve";

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

test("a conflict that outlives the agent's turn is said", () => {
  expect(conflictTitle(STATUS)).toBe("Rebase paused: 1 conflicting file");
  expect(conflictTitle({ ...STATUS, left_open: ["README.md"] })).toBe(
    "The agent finished, but README.md still has conflicts",
  );
  const two = { ...STATUS, conflicted_files: ["a", "b", "c"], left_open: ["a", "b"] };
  expect(conflictTitle(two)).toBe("The agent finished, but 2 files still have conflicts");
  expect(conflictTitle({ ...STATUS, conflicted_files: [] })).toBe("Rebase in progress: no conflicts left");
  expect(conflictTitle({ ...STATUS, conflict_op: "cherry_pick" })).toBe("Cherry-pick paused: 1 conflicting file");
});

test("an attempt has landed while its target has all of it", () => {
  const merge = { type: "direct", merge_commit: "0123456789" } as BranchStatus["merges"][number];
  const landed = { ...STATUS, merges: [merge], commits_ahead: 0, has_uncommitted_changes: false };
  expect(landedAs(landed)).toBe(merge);
  expect(landedAs({ ...landed, commits_ahead: 1 })).toBeUndefined();
  expect(landedAs({ ...landed, merges: [] })).toBeUndefined();
  expect(landedAs(undefined)).toBeUndefined();
});
