// Everything that happens, kept where the page looks, or turned into what it has to look at again.
// Invariant: this is the only place that decides which kept answers an event makes old. What an event brings is not asked
// for again.

import type { ExecutionProcess, ForgeEvent, PatchOp, Task, TaskAttemptDetail, TaskCard } from "@forge/client";
import type { QueryClient, QueryKey } from "@tanstack/react-query";
import { changeCards } from "../api/cards";
import { keys } from "../api/keys";
import { noteCut } from "./connection";
import { noteProcess } from "./ends";
import { follow, listen } from "./feed";

/** Bursts of events become one look. */
const GATHER_MS = 120;
/** What is spent grows with every step of every agent. */
const SPENT_MS = 2_000;

export function followEvents(queries: QueryClient): () => void {
  const end = new AbortController();
  const stale = new Stale(queries);
  let isFirst = true;
  listen({
    event: (event) => note(event, stale, queries),
    // Where events are missing nothing that is kept can be trusted.
    begin: () => {
      if (!isFirst) void queries.invalidateQueries();
      isFirst = false;
    },
    // What lies in git or in files is in no log.
    open: () => {
      for (const key of [keys.branchStatus(), keys.conflicts(), keys.beads()]) stale.add(key);
    },
  });
  follow(end.signal).catch(noteCut);
  return () => end.abort();
}

const BRANCH_LIMIT_MS = 1_500;

/** Resolves when the server has sent how a branch stands now, or when it has nothing new to send. */
export function branchChange(attemptId: string): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      leave();
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(done, BRANCH_LIMIT_MS);
    const leave = listen({
      event: (event) => event.event === "branch" && event.data.attempt_id === attemptId && done(),
    });
  });
}

/** Keys to ask for again, each after a little while. */
class Stale {
  readonly #queries: QueryClient;
  readonly #waiting = new Set<string>();

  constructor(queries: QueryClient) {
    this.#queries = queries;
  }

  add(queryKey: QueryKey): void {
    const name = JSON.stringify(queryKey);
    if (this.#waiting.has(name)) return;
    this.#waiting.add(name);
    const look = (): void => {
      this.#waiting.delete(name);
      void this.#queries.invalidateQueries({ queryKey });
    };
    setTimeout(look, queryKey[0] === keys.usage()[0] ? SPENT_MS : GATHER_MS);
  }
}

function note(event: ForgeEvent, stale: Stale, queries: QueryClient): void {
  if (event.event === "json_patch") for (const process of processesIn(event.data)) noteProcess(process);
  for (const key of madeOldBy(event)) stale.add(key);
  keep(event, queries);
}

/** Puts what an event brings where it is kept. */
export function keep(event: ForgeEvent, queries: QueryClient): void {
  switch (event.event) {
    case "card": {
      const { project_id: projectId, task_id: taskId, card, attempts } = event.data;
      queries.setQueryData(keys.cards(projectId), (cards: Map<string, TaskCard> | undefined) =>
        changeCards(cards, event.data),
      );
      const kept = queries.getQueryData(keys.attempts(taskId));
      if (kept) queries.setQueryData(keys.attempts(taskId), attempts);
      for (const attempt of attempts) {
        queries.setQueryData(
          keys.attempt(attempt.id),
          (now: TaskAttemptDetail | undefined) => now && { ...now, ...attempt },
        );
      }
      if (card) keepFigures(card, queries);
      break;
    }
    case "branch":
      queries.setQueryData(keys.branchStatus(event.data.attempt_id), event.data.status);
      break;
    case "conflicts":
      queries.setQueryData(keys.conflicts(event.data.project_id), event.data.report);
      break;
  }
}

function keepFigures({ attempt_id, files_changed: files, additions, deletions }: TaskCard, queries: QueryClient): void {
  if (files === null || additions === null || deletions === null) return;
  queries.setQueryData(keys.figures(attempt_id), { files, additions, deletions });
}

/** Which kept answers an event makes old without bringing the new ones. */
export function madeOldBy(event: ForgeEvent): QueryKey[] {
  switch (event.event) {
    case "json_patch":
      return event.data.flatMap(patched);
    case "card":
      // A run that goes on spends.
      return [keys.usage()];
    case "branch":
      return [keys.oldLines(event.data.attempt_id)];
    case "beads":
      return [keys.beads(), keys.dispatch(event.data)];
    case "approval":
      return [keys.approvals()];
    case "worker":
    case "worker_removed":
      return [keys.workers(), keys.usage()];
    case "alert":
      return [keys.alerts()];
    case "routing":
      return [keys.routing(), keys.beads()];
    case "project":
    case "project_removed":
      return [keys.projects()];
    default:
      // What was brought, or what a newer server sends and this page does not know.
      return [];
  }
}

function patched(operation: PatchOp): QueryKey[] {
  const [, kind, id] = operation.path.split("/");
  if (id === undefined) return [];
  if (kind === "drafts") return [keys.draft(id)];
  return kind === "tasks" ? patchedTask(id, operation.value as PatchedTask | undefined) : [];
}

type PatchedTask = Pick<Task, "parent_task_attempt">;

/** Boards are sent no descriptions, and a task that was deleted no longer says whose child it was. */
function patchedTask(id: string, task: PatchedTask | undefined): QueryKey[] {
  const old = [keys.task(id), keys.taskImages(id)];
  if (task === undefined) return [...old, keys.attempts(id), keys.relations()];
  return task.parent_task_attempt ? [...old, keys.relations(task.parent_task_attempt)] : old;
}

function processesIn(operations: readonly PatchOp[]): ExecutionProcess[] {
  return operations.flatMap(({ path, value }) => {
    const process = path.startsWith("/execution_processes/") ? (value as ExecutionProcess | undefined) : undefined;
    return process?.task_attempt_id ? [process] : [];
  });
}
