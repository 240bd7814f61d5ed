// What can be done to a task from its card, besides moving it: start, edit, delete. `dialogs` belongs into the tree.

import type { TaskWithAttemptStatus as Task } from "@forge/client";
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { forge } from "../../api/forge";
import { useDefaultAgent } from "../../parts/agent-picker";
import { useConfirm } from "../../ui/dialog";
import { agentName } from "../../ui/format";
import { messageOf } from "../../ui/state";
import { toast } from "../../ui/toast";
import { EditTask } from "./edit-task";

interface Actions {
  start: (task: Task) => void;
  edit: (task: Task) => void;
  remove: (task: Task) => void;
  dialogs: ReactNode;
}

/** `onClose` is told when a dialog has gone, to give the focus back. */
export function useTaskActions(onClose: () => void): Actions {
  const [edited, setEdited] = useState<Task>();
  const { ask, dialog } = useConfirm();
  const { executor, variant } = useDefaultAgent();
  const start = useMutation({
    mutationFn: (task: Task) =>
      forge.createTaskAttempt({ task_id: task.id, executor_profile_id: { executor, variant } }),
    onSuccess: (_attempt, task) => toast.done(`${agentName(executor)} started on “${task.title}”`),
    onError: (error, task) => toast.failed(`“${task.title}” was not started: ${messageOf(error)}`),
  });
  const remove = (task: Task): void =>
    ask({
      title: "Delete this task?",
      about: `“${task.title}” goes with its attempts and logs, and their worktrees are put away. Branches stay.`,
      verb: "Delete",
      onConfirm: async () => {
        try {
          await forge.deleteTask(task.project_id, task.id);
        } catch (error) {
          toast.failed(messageOf(error));
          throw error;
        }
      },
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
        {edited && <EditTask key={edited.id} task={edited} onClose={close} />}
      </>
    ),
  };
}
