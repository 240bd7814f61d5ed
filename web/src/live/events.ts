// Everything that happens, turned into what the page has to look at again.
// Invariant: this is the only place that decides which kept answers an event makes old.

import type { ExecutionProcess, ForgeEvent, PatchOp, Task } from "@forge/client";
import type { QueryClient, QueryKey } from "@tanstack/react-query";
import { forge } from "../api/forge";
import { keys } from "../api/keys";
import { isLive } from "../parts/status";
import { refreshCard, refreshCardOf } from "./cards";
import { noteCut, noteWord } from "./connection";
import { noteProcess } from "./ends";

/** Bursts of events become one look. */
const GATHER_MS = 120;

export function followEvents(queries: QueryClient): () => void {
  const end = new AbortController();
  const stale = new Stale(queries);
  const run = async (): Promise<void> => {
    // Where events are missing nothing that is kept can be trusted.
    const onGap = (): void => void queries.invalidateQueries();
    const options = { signal: end.signal, onOpen: noteWord, onReconnect: noteCut, onGap };
    for await (const event of forge.watchEvents(options)) {
      noteWord();
      note(event, stale, queries);
    }
  };
  run().catch(noteCut);
  return () => end.abort();
}

/** What the page itself did to a branch: the server sends no event for it. */
export async function noteBranch(queries: QueryClient, projectId: string, attemptId: string): Promise<void> {
  const old = [
    keys.attempt(attemptId),
    keys.conflicts(projectId),
    keys.oldLines(attemptId),
    keys.branchStatus(attemptId),
  ];
  refreshCardOf(queries, attemptId);
  await Promise.all(old.map((queryKey) => queries.invalidateQueries({ queryKey })));
}

/** Keys to ask for again, gathered. */
class Stale {
  readonly #queries: QueryClient;
  readonly #keys = new Map<string, QueryKey>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(queries: QueryClient) {
    this.#queries = queries;
  }

  add(key: QueryKey): void {
    this.#keys.set(JSON.stringify(key), key);
    this.#timer ??= setTimeout(() => this.#flush(), GATHER_MS);
  }

  #flush(): void {
    this.#timer = undefined;
    const keys = [...this.#keys.values()];
    this.#keys.clear();
    for (const queryKey of keys) void this.#queries.invalidateQueries({ queryKey });
  }
}

function note(event: ForgeEvent, stale: Stale, queries: QueryClient): void {
  if (event.event === "json_patch") for (const process of processesIn(event.data)) noteProcess(process);
  const old = madeOldBy(event);
  for (const key of old.keys) stale.add(key);
  for (const card of old.cards) {
    if ("attemptId" in card) refreshCardOf(queries, card.attemptId);
    else refreshCard(queries, card.projectId, card.taskId);
  }
}

interface Old {
  keys: QueryKey[];
  /** Cards are looked at one by one; a board is long. */
  cards: ({ projectId: string; taskId: string } | { attemptId: string })[];
}

/** Which kept answers an event makes old. */
export function madeOldBy(event: ForgeEvent): Old {
  switch (event.event) {
    case "json_patch": {
      const old = event.data.map(patched);
      return { keys: old.flatMap(({ keys }) => keys), cards: old.flatMap(({ cards }) => cards) };
    }
    case "approval": {
      const attemptId = event.data.task_attempt_id;
      return { keys: [keys.approvals()], cards: attemptId ? [{ attemptId }] : [] };
    }
    case "worker":
    case "worker_removed":
      return { keys: [keys.workers()], cards: [] };
    case "alert":
      return { keys: [keys.alerts()], cards: [] };
    case "routing":
      return { keys: [keys.routing(), keys.beads()], cards: [] };
    case "project":
    case "project_removed":
      return { keys: [keys.projects()], cards: [] };
    case "attempt": {
      const { id, task_id: taskId, project_id: projectId, status } = event.data;
      const old = [keys.attempts(taskId), keys.attempt(id)];
      // Where a branch comes to rest it may stand against others, or no longer.
      if (!isLive(status)) old.push(keys.conflicts(projectId));
      return { keys: old, cards: [{ projectId, taskId }] };
    }
    default:
      // A newer server may send what this page does not know.
      return { keys: [], cards: [] };
  }
}

type PatchedTask = Pick<Task, "project_id" | "status" | "parent_task_attempt">;

function patched(operation: PatchOp): Old {
  const [, kind, id] = operation.path.split("/");
  if (id === undefined) return { keys: [], cards: [] };
  if (kind === "tasks") return patchedTask(id, operation.value as PatchedTask | undefined);
  if (kind === "drafts") return { keys: [keys.draft(id)], cards: [] };
  const [process] = processesIn([operation]);
  const attemptId = process?.task_attempt_id;
  if (!attemptId) return { keys: [], cards: [] };
  const old = [keys.attempt(attemptId), keys.branchStatus(attemptId), keys.figures(attemptId)];
  if (process.status !== "running") old.push(keys.conflicts());
  return { keys: old, cards: [{ attemptId }] };
}

function patchedTask(id: string, task: PatchedTask | undefined): Old {
  const old = [keys.task(id), keys.attempts(id), keys.taskImages(id)];
  // A task that was deleted no longer says whose child it was.
  if (task === undefined) return { keys: [...old, keys.relations()], cards: [] };
  // What comes to review, or lands, may stand against others.
  if (task.status === "inreview" || task.status === "done") old.push(keys.conflicts(task.project_id));
  if (task.parent_task_attempt) old.push(keys.relations(task.parent_task_attempt));
  return { keys: old, cards: [{ projectId: task.project_id, taskId: id }] };
}

function processesIn(operations: readonly PatchOp[]): ExecutionProcess[] {
  return operations.flatMap(({ path, value }) => {
    const process = path.startsWith("/execution_processes/") ? (value as ExecutionProcess | undefined) : undefined;
    return process?.task_attempt_id ? [process] : [];
  });
}
