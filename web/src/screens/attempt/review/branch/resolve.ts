// A rebase or merge that has stopped, in words: also when the agent was to finish it and did not.

import type { BranchStatus, ConflictOp } from "@forge/client";
import { count } from "../../../../ui/format";

export const OPERATION: Record<ConflictOp, string> = {
  rebase: "rebase",
  merge: "merge",
  cherry_pick: "cherry-pick",
  revert: "revert",
};

export const isStopped = (status: BranchStatus): boolean =>
  status.conflicted_files.length > 0 || status.is_rebase_in_progress;

/** The agent's last turn ended, and conflicts are still there. */
export const wasLeftOpen = ({ left_open }: BranchStatus): boolean => left_open !== undefined && left_open.length > 0;

/** What stands above the files in conflict. */
export function conflictTitle(status: BranchStatus): string {
  const { conflicted_files: files, left_open: left = [] } = status;
  const operation = OPERATION[status.conflict_op ?? "rebase"];
  const word = operation.charAt(0).toUpperCase() + operation.slice(1);
  if (left.length === 1) return `The agent finished, but ${left[0]} still has conflicts`;
  if (left.length > 1) return `The agent finished, but ${count(left.length, "file")} still have conflicts`;
  if (files.length === 0) return `${word} in progress: no conflicts left`;
  return `${word} paused: ${count(files.length, "conflicting file")}`;
}
