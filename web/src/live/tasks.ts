// The tasks of a project, live.

import type { TasksDocument, TaskWithAttemptStatus } from "@forge/client";
import { forge } from "../api/forge";
import { Channel, channels } from "./channel";

export type Tasks = ReadonlyMap<string, TaskWithAttemptStatus>;

/** Patches replace tasks whole, so a task that is the same object has not changed. */
export const tasksChannel = channels<Tasks>((projectId) => {
  let document: TasksDocument = { tasks: {} };
  return new Channel<Tasks>(
    async (options, changed) => {
      for await (const change of forge.watchTasks(projectId, options)) {
        document = change.document;
        changed();
      }
    },
    () => new Map(Object.entries(document.tasks)),
  );
}, 4);
