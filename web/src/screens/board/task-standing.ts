// Where a task stands on the board. The server's status says where the work is filed; its card says what it waits for.
// Invariant: this is the only place that puts a task into another column than its status names, and only out of review:
// where somebody put a task by hand, it stays.

import type { TaskCard, TaskStatus } from "@forge/client";
import type { BoardTask as Task } from "../../live/tasks";
import { isLive } from "../../parts/status";

export function isRunning(task: Task, card: TaskCard | undefined): boolean {
  return card ? isLive(card.status) : task.has_in_progress_attempt;
}

/** Its agent asks something and goes on once it is answered. */
export const isWaiting = (card: TaskCard | undefined): boolean => (card?.waiting_approvals ?? 0) > 0;

export function hasFailed(task: Task, card: TaskCard | undefined): boolean {
  if (task.status === "done" || task.status === "cancelled" || isRunning(task, card)) return false;
  return card ? card.status === "failed" : task.last_attempt_failed;
}

/** There is nothing to review: the last run failed, and no attempt of the task changed a file. */
const cameToNothing = (task: Task, card: TaskCard): boolean =>
  hasFailed(task, card) &&
  card.files_changed === 0 &&
  !card.earlier_changes &&
  !card.commit_error &&
  !card.open_conflicts &&
  !card.pr &&
  !card.merged;

export function columnOf(task: Task, card: TaskCard | undefined): TaskStatus {
  if (task.status !== "inreview" || card === undefined) return task.status;
  if (isWaiting(card)) return "inprogress";
  return cameToNothing(task, card) ? "todo" : "inreview";
}
