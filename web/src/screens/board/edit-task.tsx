// The words of a task, changed from the board. What is typed is kept in this browser until the server has it.

import type { Image, Task } from "@forge/client";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { forge } from "../../api/forge";
import { taskImagesQuery, taskQuery } from "../../api/queries/task";
import { readDraft, restoreForm, useDraft } from "../../kept/draft";
import type { TaskWords } from "../../parts/task/task-form";
import { Dialog } from "../../ui/dialog";
import { FormDialog } from "../../ui/form-dialog";
import { Failure, messageOf, Waiting } from "../../ui/state";
import { TaskFields } from "./task-fields";

interface Props {
  task: Pick<Task, "id" | "project_id">;
  onClose: () => void;
}

const placeOf = (task: Task): string => `task.${task.id}`;

export function EditTask({ task: { id, project_id: projectId }, onClose }: Props) {
  const [task, images] = [useQuery(taskQuery(projectId, id)), useQuery(taskImagesQuery(id))];
  if (task.data && images.data) return <EditDialog task={task.data} images={images.data} onClose={onClose} />;
  const failed = [task, images].find(({ error }) => error);
  return (
    <Dialog open onOpenChange={(open) => open || onClose()} title="Edit task" width="lg">
      {failed ? (
        <Failure error={failed.error} onRetry={() => void failed.refetch()} />
      ) : (
        <Waiting what="Loading the task" />
      )}
    </Dialog>
  );
}

interface Words {
  task: Task;
  images: readonly Image[];
  onClose: () => void;
}

function EditDialog({ task, images, onClose }: Words) {
  const [now] = useState<TaskWords>(() => ({
    title: task.title,
    description: task.description ?? "",
    images,
    labels: task.labels ?? [],
  }));
  const [restored] = useState(() => readDraft(placeOf(task)) !== null);
  const { value: words, set, clear } = useDraft(placeOf(task), (kept) => restoreForm(now, kept));
  const [uploading, setUploading] = useState(false);
  const save = useMutation({
    mutationFn: () =>
      forge.updateTask(task.project_id, task.id, {
        title: words.title.trim(),
        // An empty one would keep what is there.
        description: words.description.trim() || " ",
        image_ids: words.images.map(({ id }) => id),
        labels: [...words.labels],
      }),
    onSuccess: () => {
      clear();
      onClose();
    },
    // Said in the dialog.
    onError: () => undefined,
  });
  const hasTitle = words.title.trim() !== "";
  const submit = (): void => {
    if (hasTitle && !uploading && !save.isPending) save.mutate();
  };
  const discard = (): void => {
    clear();
    onClose();
  };
  return (
    <FormDialog
      onClose={onClose}
      title="Edit task"
      about={restored ? "With what you typed last time, which was not saved." : undefined}
      width="lg"
      verb="Save"
      busy={save.isPending}
      blocked={!hasTitle || uploading}
      onSubmit={submit}
      cancel={{ word: "Discard", run: discard }}
      problem={save.error && messageOf(save.error)}
      // Room for the focus ring of the first field, which the dialog would cut off.
      className="flex flex-col gap-3 pt-1"
    >
      <TaskFields
        projectId={task.project_id}
        words={words}
        onChange={(part) => set((before) => ({ ...before, ...part }))}
        titleFlaw={hasTitle ? undefined : "A task needs a title."}
        onSubmit={submit}
        onUploading={setUploading}
      />
    </FormDialog>
  );
}
