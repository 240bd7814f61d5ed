// The states of tasks and attempts, in the page's words and colours.

import type { AttemptStatus, TaskStatus } from "@forge/client";
import type { Tone } from "../ui/badge";

export interface Column {
  status: TaskStatus;
  title: string;
  tone: Tone;
}

/** The columns of the board, in order. `agent` and `archived` tasks have none. */
export const COLUMNS: readonly Column[] = [
  { status: "todo", title: "To do", tone: "neutral" },
  { status: "inprogress", title: "In progress", tone: "accent" },
  { status: "inreview", title: "In review", tone: "review" },
  { status: "done", title: "Done", tone: "good" },
  { status: "cancelled", title: "Cancelled", tone: "neutral" },
];

export function statusTitle(status: TaskStatus): string {
  return COLUMNS.find((column) => column.status === status)?.title ?? status;
}

export const ATTEMPT_STATE: Record<AttemptStatus, { title: string; tone: Tone }> = {
  pending: { title: "Starting", tone: "info" },
  running: { title: "Running", tone: "accent" },
  completed: { title: "Finished", tone: "good" },
  failed: { title: "Failed", tone: "bad" },
  stopped: { title: "Stopped", tone: "neutral" },
};

/** Something of it is running, or about to be. */
export const isLive = (status: AttemptStatus): boolean => status === "running" || status === "pending";
