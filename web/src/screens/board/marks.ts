// What a card has to say beside its title: the marks of a task, the most pressing one first.

import type { ConflictReport, PrStatus, TaskWithAttemptStatus as Task, TaskCard } from "@forge/client";
import { isLive } from "../../parts/status";
import type { Tone } from "../../ui/badge";
import { timeOfDay } from "../../ui/format";

export type MarkKind =
  | "answer"
  | "failed"
  | "conflict"
  | "uncommitted"
  | "unverified"
  | "parked"
  | "queued"
  | "pr"
  | "merged";

export interface Mark {
  kind: MarkKind;
  tone: Tone;
  text: string;
  /** The whole sentence, where the word is not all there is to say. */
  more?: string;
}

/** Why an attempt cannot land as it is, by attempt. */
export type Clashes = ReadonlyMap<string, string>;

export function clashesOf(report: ConflictReport | undefined): Clashes {
  const clashes = new Map<string, string>();
  const files = (names: readonly string[]): string => names.slice(0, 3).join(", ") + (names.length > 3 ? ", …" : "");
  for (const { attempts, branches, files: names } of report?.pairs ?? []) {
    for (const [at, attempt] of attempts.entries()) {
      const other = branches.filter((_, index) => index !== at).join(", ");
      clashes.set(attempt, `Changes the same lines as ${other}: ${files(names)}`);
    }
  }
  // What stands against the target is worse than what may come from a neighbour, and takes its place.
  for (const { attempt_id, target_branch, files: names } of report?.target ?? []) {
    clashes.set(attempt_id, `Conflicts with ${target_branch}: ${files(names)}`);
  }
  return clashes;
}

const PR_TONE: Record<PrStatus, Tone> = { open: "review", merged: "good", closed: "neutral", unknown: "neutral" };

export function isRunning(task: Task, card: TaskCard | undefined): boolean {
  return card ? isLive(card.status) : task.has_in_progress_attempt;
}

export function marksOf(task: Task, card: TaskCard | undefined, clash: string | undefined): readonly Mark[] {
  const marks: Mark[] = [];
  const over = task.status === "done" || task.status === "cancelled";
  const running = isRunning(task, card);
  if (card?.waiting_approvals) marks.push({ kind: "answer", tone: "warn", text: "Needs an answer" });
  if (!over && !running && (card ? card.status === "failed" : task.last_attempt_failed)) {
    marks.push({ kind: "failed", tone: "bad", text: "Failed" });
  }
  if (clash && !over) marks.push({ kind: "conflict", tone: "bad", text: "Conflict", more: clash });
  if (card?.commit_error && !over) {
    const more = `The work is in the worktree but not committed: ${card.commit_error}`;
    marks.push({ kind: "uncommitted", tone: "bad", text: "Not committed", more });
  }
  if (card?.unverified && !over) {
    const more = "The agent said that it is done, but used no tool and no model";
    marks.push({ kind: "unverified", tone: "warn", text: "Unverified", more });
  }
  if (card?.parked_until) {
    marks.push({ kind: "parked", tone: "info", text: `Parked until ${timeOfDay(card.parked_until)}` });
  }
  if (card?.queued_draft) marks.push({ kind: "queued", tone: "info", text: "Message queued" });
  if (card?.pr) {
    const { number, status } = card.pr;
    marks.push({ kind: "pr", tone: PR_TONE[status], text: `#${number} ${status === "unknown" ? "" : status}`.trim() });
  } else if (card ? card.merged : task.has_merged_attempt) {
    marks.push({ kind: "merged", tone: "good", text: "Merged" });
  }
  return marks;
}
