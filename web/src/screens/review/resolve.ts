// What came of handing a stopped rebase to the agent, in words.

import type { BranchStatus, ConflictOp, ExecutionProcess } from "@forge/client";
import { count } from "../../ui/format";
import { promptOf } from "../attempt/standing";

export const OPERATION: Record<ConflictOp, string> = {
  rebase: "rebase",
  merge: "merge",
  cherry_pick: "cherry-pick",
  revert: "revert",
};

export const isStopped = (status: BranchStatus): boolean =>
  status.conflicted_files.length > 0 || status.is_rebase_in_progress;

/** How the server begins the message in which it hands a conflict to the agent. */
const HANDED =
  /^(The rebase of|A merge into|A cherry-pick onto|A revert on) '[^\n]*' has stopped in this worktree and has to be finished\./;

/** The last thing the agent was asked was to resolve a conflict. */
export function resolveTurn(processes: readonly ExecutionProcess[]): ExecutionProcess | undefined {
  const last = processes.findLast(({ run_reason, dropped }) => run_reason === "codingagent" && !dropped);
  return last && HANDED.test(promptOf(last) ?? "") ? last : undefined;
}

const ENDED: Record<Exclude<ExecutionProcess["status"], "running">, string> = {
  completed: "The agent finished",
  failed: "The agent failed",
  killed: "The agent was stopped",
};

/** What stands above the files in conflict. */
export function conflictTitle(status: BranchStatus, turn: ExecutionProcess | undefined): string {
  const files = status.conflicted_files;
  const operation = OPERATION[status.conflict_op ?? "rebase"];
  const word = operation.charAt(0).toUpperCase() + operation.slice(1);
  if (turn?.status === "running") return "The agent is resolving the conflicts";
  const which =
    files.length === 1 ? `${files[0]} still has conflicts` : `${count(files.length, "file")} still have conflicts`;
  if (turn) return `${ENDED[turn.status]}, but ${files.length > 0 ? which : `the ${operation} is not finished`}`;
  if (files.length === 0) return `${word} in progress: no conflicts left`;
  return `${word} paused: ${count(files.length, "conflicting file")}`;
}
