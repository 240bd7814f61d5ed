// Changes of a task: shown at once, taken back when the server refuses them.

import type { Task, UpdateTask } from "@forge/client";
import { type UseMutationResult, useMutation, useQueryClient } from "@tanstack/react-query";
import { forge } from "../../api/forge";
import { taskQuery } from "../../api/queries/task";
import { messageOf } from "../../ui/state";
import { toast } from "../../ui/toast";

/** The task as it will be; absent and null keep what is there. */
export function changed(task: Task, { title, description, status, labels }: UpdateTask): Task {
  return {
    ...task,
    title: title ?? task.title,
    description: description == null ? task.description : description.trim() || null,
    status: status ?? task.status,
    labels: labels ?? task.labels,
  };
}

export function useTaskChange(task: Task): UseMutationResult<Task, Error, UpdateTask> {
  const queries = useQueryClient();
  const { queryKey } = taskQuery(task.project_id, task.id);
  return useMutation({
    mutationFn: (change: UpdateTask) => forge.updateTask(task.project_id, task.id, change),
    onMutate: (change) => {
      const before = queries.getQueryData(queryKey);
      queries.setQueryData(queryKey, (now) => now && changed(now, change));
      return { before };
    },
    onSuccess: (saved) => queries.setQueryData(queryKey, saved),
    onError: (error, _change, context) => {
      queries.setQueryData(queryKey, context?.before);
      toast.failed(messageOf(error));
    },
  });
}
