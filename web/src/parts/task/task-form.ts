// A task that is being written, before the server knows of it: what the form holds and what it sends.
// Invariant: `made` is set as soon as the task exists; from then on nothing of it is created again.

import type { CreateTaskHere, Image, TaskTemplate } from "@forge/client";
import type { AgentChoice } from "../agents";
import { BUDGET_FLAW, parseBudget } from "../budget";

export const MOST_ATTEMPTS = 5;

export interface Made {
  taskId: string;
  /** The attempt of each row, `null` where it is still to be started. */
  attempts: readonly (string | null)[];
}

export interface TaskWords {
  title: string;
  description: string;
  images: readonly Image[];
  labels: readonly string[];
}

/** How attempts are to be started. */
export interface StartForm {
  /** One per attempt; `null` is the default agent. */
  agents: readonly (AgentChoice | null)[];
  /** `null` is the project's default. */
  base: string | null;
  budget: string;
  autoPr: boolean;
  useWorktree: boolean;
}

export interface TaskForm extends StartForm, TaskWords {
  mode: "write" | "issue";
  /** A number or an address. */
  issue: string;
  made: Made | null;
}

export const EMPTY_START: StartForm = { agents: [null], base: null, budget: "", autoPr: false, useWorktree: true };

export const EMPTY: TaskForm = {
  ...EMPTY_START,
  mode: "write",
  issue: "",
  title: "",
  description: "",
  images: [],
  labels: [],
  made: null,
};

export function isEmpty(form: TaskForm): boolean {
  return !form.title.trim() && !form.description.trim() && !form.issue.trim() && form.images.length === 0;
}

/** A template adds to what is written; it never takes words away. */
export function withTemplate<T extends { title: string; description: string }>(form: T, template: TaskTemplate): T {
  const written = form.description.trimEnd();
  const added = template.description ?? "";
  return {
    ...form,
    title: form.title.trim() ? form.title : template.title,
    description: written && added ? `${written}\n\n${added}` : written || added,
  };
}

/** More or fewer attempts; a new one begins with the agent of the one before. */
export function withAttempts<T extends StartForm>(form: T, count: number): T {
  const wanted = Math.min(Math.max(count, 1), MOST_ATTEMPTS);
  const last = form.agents.at(-1) ?? null;
  const agents = Array.from({ length: wanted }, (_, row) =>
    row < form.agents.length ? (form.agents[row] ?? null) : last,
  );
  return { ...form, agents };
}

export function parseIssue(text: string): { number: number } | { url: string } | null {
  const clean = text.trim();
  const number = /^#?(\d+)$/.exec(clean)?.[1];
  if (number !== undefined) return { number: Number(number) };
  return /^https?:\/\/\S+$/.test(clean) ? { url: clean } : null;
}

export interface Flaws {
  title?: string;
  issue?: string;
  budget?: string;
}

/** What keeps the form from being sent. */
export function flawsOf(form: TaskForm): Flaws {
  const flaws: Flaws = {};
  if (form.mode === "write" && !form.title.trim()) flaws.title = "A task needs a title.";
  if (form.mode === "issue" && parseIssue(form.issue) === null)
    flaws.issue = "Give the number or the address of an issue.";
  if (parseBudget(form.budget) === undefined) flaws.budget = BUDGET_FLAW;
  return flaws;
}

export function taskOf({ title, description, images, labels }: TaskForm): CreateTaskHere {
  return {
    title: title.trim(),
    description: description.trim() || null,
    image_ids: images.map(({ id }) => id),
    labels: [...labels],
  };
}
