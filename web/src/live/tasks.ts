// The tasks of a project, live: a snapshot, which comes compressed, and then what events say.
// Invariant: the snapshot is not older than the first event that is listened to; one that is gets asked for again.

import type { ForgeEvent, PatchOp, TaskWithAttemptStatus } from "@forge/client";
import { forge } from "../api/forge";
import { Channel, channels } from "./channel";
import { listen } from "./feed";

/** A task as boards get it. Its description is part of the task itself. */
export type BoardTask = Omit<TaskWithAttemptStatus, "description">;
export type Tasks = ReadonlyMap<string, BoardTask>;

/** Events replace tasks whole, so a task that is the same object has not changed. */
export const tasksChannel = channels<Tasks>((projectId) => {
  const tasks = new Map<string, BoardTask>();
  return new Channel<Tasks>(
    ({ signal }, changed) => follow(projectId, tasks, changed, signal ?? new AbortController().signal),
    () => new Map(tasks),
  );
}, 4);

async function follow(
  projectId: string,
  tasks: Map<string, BoardTask>,
  changed: () => void,
  signal: AbortSignal,
): Promise<void> {
  let begun = 0;
  /** The last event that is part of the snapshot; without one, events wait. */
  let known: number | undefined;
  let waiting: ForgeEvent[] = [];
  const apply = (event: ForgeEvent): void => {
    if (known !== undefined && event.id <= known) return;
    for (const change of changesOf(event, projectId)) {
      if (change.task) tasks.set(change.id, change.task);
      else tasks.delete(change.id);
      changed();
    }
  };
  const load = async (): Promise<void> => {
    known = undefined;
    waiting = [];
    const snapshot = await readTasks(projectId);
    // Another one is on its way.
    if (snapshot.seq < begun) return load();
    tasks.clear();
    for (const [id, task] of Object.entries(snapshot.tasks)) tasks.set(id, task);
    known = snapshot.seq;
    for (const event of waiting) apply(event);
    waiting = [];
    changed();
  };
  await new Promise<void>((resolve, reject) => {
    const leave = listen({
      event: (event) => {
        if (known === undefined) waiting.push(event);
        else apply(event);
      },
      begin: (after) => {
        begun = after;
        if (known !== undefined && known < after) load().catch(fail);
      },
    });
    const fail = (error: unknown): void => {
      leave();
      if (signal.aborted) resolve();
      else reject(error);
    };
    signal.addEventListener("abort", () => {
      leave();
      resolve();
    });
    load().catch(fail);
  });
}

async function readTasks(projectId: string) {
  const query = { project_id: projectId, brief: true };
  const page = await forge.request("GET /api/tasks/stream", { query });
  const [first] = page.frames;
  const operation = first && "JsonPatch" in first ? first.JsonPatch[0] : undefined;
  return { seq: first?.seq ?? 0, tasks: (operation?.value ?? {}) as Record<string, BoardTask> };
}

/** What an event changes in a project; a task of which only the id is known may be anyone's, and is gone. */
function changesOf(event: ForgeEvent, projectId: string): { id: string; task?: BoardTask }[] {
  if (event.event !== "json_patch") return [];
  return event.data.flatMap(({ path, value }: PatchOp) => {
    const [, kind, id] = path.split("/");
    const task = value as BoardTask | undefined;
    if (kind !== "tasks" || id === undefined) return [];
    if (task === undefined) return [{ id }];
    return task.project_id === projectId ? [{ id, task }] : [];
  });
}
