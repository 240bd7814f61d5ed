// What can be done to a task from its card, besides moving it: start, edit, delete. `dialogs` belongs into the tree.

import { useMutation } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { forge } from "../../api/forge";
import type { BoardTask as Task } from "../../live/tasks";
import { useDefaultAgent, useOffers } from "../../parts/agent-picker";
import { agentLabel, profileOf } from "../../parts/agents";
import { useDeleteTask } from "../../parts/task/delete-task";
import { messageOf } from "../../ui/state";
import { toast } from "../../ui/toast";

const StartAttempt = lazy(async () => ({ default: (await import("../../parts/task/start-attempt")).StartAttempt }));
const EditTask = lazy(async () => ({ default: (await import("./edit-task")).EditTask }));

interface Actions {
  start: (task: Task) => void;
  edit: (task: Task) => void;
  remove: (task: Task) => void;
  dialogs: ReactNode;
}

/** `onClose` is called when a dialog has gone, to give the focus back. */
export function useTaskActions(projectId: string, onClose: () => void): Actions {
  const [edited, setEdited] = useState<Task>();
  const [begun, setBegun] = useState<Task>();
  const { ask: remove, dialog } = useDeleteTask();
  const agent = useDefaultAgent(projectId);
  const isReady = useOffers().find(({ executor }) => executor === agent.executor)?.ready !== false;
  const start = useMutation({
    mutationFn: (task: Task) => forge.createTaskAttempt({ task_id: task.id, executor_profile_id: profileOf(agent) }),
    onSuccess: (_attempt, task) => toast.done(`${agentLabel(agent)} started on “${task.title}”`),
    onError: (error, task) => toast.failed(`“${task.title}” was not started: ${messageOf(error)}`),
  });
  const close = (): void => {
    setEdited(undefined);
    setBegun(undefined);
    onClose();
  };
  return {
    // An agent that cannot work would only fail: the dialog says what it lacks, and offers others.
    start: (task) => (isReady ? !start.isPending && start.mutate(task) : setBegun(task)),
    edit: setEdited,
    remove,
    dialogs: (
      <>
        {dialog}
        <Suspense fallback={null}>{edited && <EditTask key={edited.id} task={edited} onClose={close} />}</Suspense>
        <Suspense fallback={null}>
          {begun && <StartAttempt key={begun.id} projectId={projectId} taskId={begun.id} onClose={close} />}
        </Suspense>
      </>
    ),
  };
}
