// The processes of an attempt, live, oldest first.

import type { ExecutionProcess, ProcessesDocument } from "@forge/client";
import { forge } from "../api/forge";
import { Channel, channels } from "./channel";

export const processesChannel = channels<readonly ExecutionProcess[]>((attemptId) => {
  let document: ProcessesDocument = { execution_processes: {} };
  return new Channel<readonly ExecutionProcess[]>(
    async (options, changed) => {
      for await (const change of forge.watchExecutionProcesses(attemptId, options)) {
        document = change.document;
        changed();
      }
    },
    () =>
      Object.values(document.execution_processes)
        .filter((process) => !process.dropped)
        .sort((a, b) => a.created_at.localeCompare(b.created_at)),
  );
});
