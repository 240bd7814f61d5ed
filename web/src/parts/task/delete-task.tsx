// Deleting a task: asked once more, and said with what it takes along. `dialog` belongs into the tree.

import type { Task } from "@forge/client";
import type { ReactNode } from "react";
import { forge } from "../../api/forge";
import { useConfirm } from "../../ui/dialog";
import { toast } from "../../ui/toast";

type Deleted = Pick<Task, "id" | "project_id" | "title">;

export function useDeleteTask(onDeleted?: () => void): { ask: (task: Deleted) => void; dialog: ReactNode } {
  const { ask, dialog } = useConfirm();
  const remove = async ({ id, project_id, title }: Deleted): Promise<void> => {
    await forge.deleteTask(project_id, id);
    toast.done(`Deleted “${title}”`);
    onDeleted?.();
  };
  const askFor = (task: Deleted): void =>
    ask({
      title: `Delete “${task.title}”?`,
      about: "Deletes its attempts and logs. Worktrees move to the trash; branches are kept.",
      verb: "Delete",
      onConfirm: () => remove(task),
    });
  return { ask: askFor, dialog };
}
