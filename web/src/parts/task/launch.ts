// Makes tasks and starts their attempts. Invariant: what exists already is never made again; each attempt that starts is
// reported at once, so that a retry begins where the last one ended.

import type { AttemptOptions } from "@forge/client";
import { forge } from "../../api/forge";
import { messageOf } from "../../ui/state";
import { type AgentChoice, profileOf } from "../agents";
import { parseBudget } from "../budget";
import { type Made, parseIssue, type StartForm, type TaskForm, taskOf } from "./task-form";

/** Why the attempt of a row did not start. */
export type Failures = ReadonlyMap<number, string>;

export type Api = Pick<typeof forge, "createTask" | "createAndStartTask" | "createTaskAttempt" | "request">;

function optionsOf({ base, budget, autoPr, useWorktree }: StartForm, agent: AgentChoice): AttemptOptions {
  return {
    executor_profile_id: profileOf(agent),
    base_branch: base,
    max_cost_usd: parseBudget(budget) ?? null,
    auto_pr: autoPr || null,
    use_worktree: useWorktree,
  };
}

async function fromIssue(api: Api, projectId: string, form: TaskForm, agent: AgentChoice | null) {
  const { use_worktree: _, ...options } = agent ? optionsOf(form, agent) : { use_worktree: null };
  const body = { ...parseIssue(form.issue), ...options, start: agent !== null };
  return await api.request("POST /api/projects/{project_id}/tasks/from-issue", {
    path: { project_id: projectId },
    body,
  });
}

/** Makes the task without starting it; gives its id. */
export async function create(projectId: string, form: TaskForm, api: Api = forge): Promise<string> {
  if (form.mode === "issue") return (await fromIssue(api, projectId, form, null)).id;
  return (await api.createTask(projectId, taskOf(form))).id;
}

async function createFirst(api: Api, projectId: string, form: TaskForm, agents: readonly AgentChoice[]): Promise<Made> {
  const [first, ...others] = agents;
  if (first === undefined) throw new Error("A task is started by at least one agent.");
  const started =
    form.mode === "issue"
      ? await fromIssue(api, projectId, form, first)
      : await api.createAndStartTask(projectId, { task: taskOf(form), ...optionsOf(form, first) });
  return { taskId: started.id, attempts: [started.task_attempt?.id ?? null, ...others.map(() => null)] };
}

interface Given {
  projectId: string;
  form: TaskForm;
  /** One per row. */
  agents: readonly AgentChoice[];
  onMade: (made: Made) => void;
  api?: Api;
}

/** Makes the task unless it is made, and starts every attempt that is not. Throws only when there is no task yet. */
export async function launch({ projectId, form, agents, onMade, api = forge }: Given): Promise<[Made, Failures]> {
  const before = form.made ?? (await createFirst(api, projectId, form, agents));
  onMade(before);
  return await startAll({ form, agents, made: before, onMade, api });
}

interface StartGiven {
  form: StartForm;
  agents: readonly AgentChoice[];
  made: Made;
  onMade: (made: Made) => void;
  api?: Api;
}

/** Starts the attempts of a task that are not started yet, one after the other. */
export async function startAll({ form, agents, made, onMade, api = forge }: StartGiven): Promise<[Made, Failures]> {
  const failures = new Map<number, string>();
  let now = made;
  for (const [row, agent] of agents.entries()) {
    if (now.attempts[row]) continue;
    try {
      const attempt = await api.createTaskAttempt({ task_id: made.taskId, ...optionsOf(form, agent) });
      now = { ...now, attempts: agents.map((_, at) => (at === row ? attempt.id : (now.attempts[at] ?? null))) };
      onMade(now);
    } catch (error) {
      failures.set(row, messageOf(error));
    }
  }
  return [now, failures];
}
