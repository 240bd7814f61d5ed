// What can be done to a task from its card, besides moving it: start, edit, delete. `dialogs` belongs into the tree.

import type { TaskWithAttemptStatus as Task } from "@forge/client";
import { useMutation } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { forge } from "../../api/forge";
import { useDefaultAgent } from "../../parts/agent-picker";
import { agentName } from "../../ui/format";
import { messageOf } from "../../ui/state";
import { toast } from "../../ui/toast";
import { useDeleteTask } from "../task/delete-task";

const EditTask = lazy(async () => ({ default: (await import("../task/edit-task")).EditTask }));

interface Actions {
  start: (task: Task) => void;
  edit: (task: Task) => void;
  remove: (task: Task) => void;
  dialogs: ReactNode;
}

/** `onClose` is told when a dialog has gone, to give the focus back. */
export function useTaskActions(onClose: () => void): Actions {
  const [edited, setEdited] = useState<Task>();
  const { ask: remove, dialog } = useDeleteTask();
  const { executor, variant } = useDefaultAgent();
  const start = useMutation({
    mutationFn: (task: Task) =>
      forge.createTaskAttempt({ task_id: task.id, executor_profile_id: { executor, variant } }),
    onSuccess: (_attempt, task) => toast.done(`${agentName(executor)} started on “${task.title}”`),
    onError: (error, task) => toast.failed(`“${task.title}” was not started: ${messageOf(error)}`),
  });
  const close = (): void => {
    setEdited(undefined);
    onClose();
  };
  return {
    start: (task) => !start.isPending && start.mutate(task),
    edit: setEdited,
    remove,
    dialogs: (
      <>
        {dialog}
        <Suspense fallback={null}>{edited && <EditTask key={edited.id} task={edited} onClose={close} />}</Suspense>
      </>
    ),
  };
}
