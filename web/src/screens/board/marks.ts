// What a card has to say beside its title: the marks of a task, the most pressing one first.

import type { PrStatus, TaskCard } from "@forge/client";
import type { BoardTask as Task } from "../../live/tasks";
import type { Clash } from "../../parts/clashes";
import type { Tone } from "../../ui/badge";
import { timeOfDay } from "../../ui/format";
import { hasFailed, isWaiting } from "./task-standing";

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

const PR_TONE: Record<PrStatus, Tone> = { open: "review", merged: "good", closed: "neutral", unknown: "neutral" };

export function marksOf(task: Task, card: TaskCard | undefined, clash: Clash | undefined): readonly Mark[] {
  const marks: Mark[] = [];
  const over = task.status === "done" || task.status === "cancelled";
  if (isWaiting(card)) marks.push({ kind: "answer", tone: "warn", text: "Needs your answer" });
  if (hasFailed(task, card)) marks.push({ kind: "failed", tone: "bad", text: "Failed" });
  if (clash?.target && !over) marks.push({ kind: "conflict", tone: "bad", text: "Conflict", more: clash.target });
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
