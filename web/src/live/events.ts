// Everything that happens, turned into what the page has to look at again.
// Invariant: this is the only place that decides which kept answers an event makes old.

import type { ExecutionProcess, ForgeEvent, PatchOp, Task } from "@forge/client";
import type { QueryClient } from "@tanstack/react-query";
import { forge } from "../api/forge";
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

/** What the page itself did to a branch: the server tells no event of it. */
export async function noteBranch(queries: QueryClient, projectId: string, attemptId: string): Promise<void> {
  const keys = [
    ["attempt", attemptId],
    ["conflicts", projectId],
    ["old-lines", attemptId],
    ["branch-status", attemptId],
  ];
  refreshCardOf(queries, attemptId);
  await Promise.all(keys.map((queryKey) => queries.invalidateQueries({ queryKey })));
}

/** Keys to ask for again, gathered. */
class Stale {
  readonly #queries: QueryClient;
  readonly #keys = new Map<string, readonly string[]>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(queries: QueryClient) {
    this.#queries = queries;
  }

  add(...key: string[]): void {
    this.#keys.set(key.join("\0"), key);
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
  switch (event.event) {
    case "json_patch":
      for (const operation of event.data) notePatch(operation, stale, queries);
      break;
    case "approval":
      stale.add("approvals");
      if (event.data.task_attempt_id) refreshCardOf(queries, event.data.task_attempt_id);
      break;
    case "worker":
      stale.add("workers");
      break;
    case "worker_removed":
      stale.add("workers");
      break;
    case "alert":
      stale.add("alerts");
      break;
    case "routing":
      stale.add("routing");
      stale.add("beads");
      break;
    case "project":
    case "project_removed":
      stale.add("projects");
      break;
    case "attempt":
      stale.add("attempts", event.data.task_id);
      stale.add("attempt", event.data.id);
      refreshCard(queries, event.data.project_id, event.data.task_id);
      // Where a branch comes to rest it may stand against others, or no longer.
      if (!isLive(event.data.status)) stale.add("conflicts", event.data.project_id);
      break;
  }
}

type ToldTask = Pick<Task, "project_id" | "status" | "parent_task_attempt">;

function notePatch(operation: PatchOp, stale: Stale, queries: QueryClient): void {
  const [, kind, id] = operation.path.split("/");
  if (id === undefined) return;
  if (kind === "tasks") {
    stale.add("task", id);
    stale.add("attempts", id);
    stale.add("task-images", id);
    const task = operation.value as ToldTask | undefined;
    if (task) refreshCard(queries, task.project_id, id);
    // What comes to review, or lands, may stand against others.
    if (task?.status === "inreview" || task?.status === "done") stale.add("conflicts", task.project_id);
    // A task that was deleted no longer says whose child it was.
    if (task === undefined) stale.add("relations");
    else if (task.parent_task_attempt) stale.add("relations", task.parent_task_attempt);
  } else if (kind === "execution_processes") {
    const process = operation.value as ExecutionProcess | undefined;
    const attemptId = process?.task_attempt_id;
    if (!attemptId) return;
    noteProcess(process);
    stale.add("attempt", attemptId);
    stale.add("branch-status", attemptId);
    stale.add("figures", attemptId);
    if (process.status !== "running") stale.add("conflicts");
    refreshCardOf(queries, attemptId);
  } else if (kind === "drafts") {
    stale.add("draft", id);
  }
}
