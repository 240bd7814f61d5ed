// The words of a task, changed. What is typed is kept in this browser until the server has it.

import type { TaskWithAttemptStatus as Task } from "@forge/client";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { forge } from "../../api/forge";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { TextArea, TextField } from "../../ui/field";
import { messageOf } from "../../ui/state";

interface Words {
  title: string;
  description: string;
  labels: string;
}

const keyOf = (task: Task): string => `forge.draft.task.${task.id}`;

function wordsOf(task: Task): Words {
  return { title: task.title, description: task.description ?? "", labels: task.labels?.join(", ") ?? "" };
}

function kept(task: Task): Words | undefined {
  try {
    const words: Partial<Words> = JSON.parse(localStorage.getItem(keyOf(task)) ?? "{}");
    const { title, description, labels } = words;
    if (typeof title !== "string" || typeof description !== "string" || typeof labels !== "string") return undefined;
    return { title, description, labels };
  } catch {
    return undefined;
  }
}

export function labelsOf(text: string): string[] {
  return [...new Set(text.split(",").map((label) => label.trim()))].filter(Boolean);
}

export function EditTask({ task, onClose }: { task: Task; onClose: () => void }) {
  const [words, setWords] = useState<Words>(() => kept(task) ?? wordsOf(task));
  const [restored] = useState(() => kept(task) !== undefined);
  const change = (part: Partial<Words>): void => {
    const next = { ...words, ...part };
    setWords(next);
    localStorage.setItem(keyOf(task), JSON.stringify(next));
  };
  const save = useMutation({
    mutationFn: ({ title, description, labels }: Words) =>
      forge.updateTask(task.project_id, task.id, {
        title: title.trim(),
        description,
        labels: labelsOf(labels),
      }),
    onSuccess: () => {
      localStorage.removeItem(keyOf(task));
      onClose();
    },
    // Said in the dialog.
    onError: () => undefined,
  });
  const discard = (): void => {
    localStorage.removeItem(keyOf(task));
    setWords(wordsOf(task));
    onClose();
  };
  const ready = words.title.trim() !== "";
  return (
    <Dialog
      open
      onOpenChange={(open) => open || onClose()}
      title="Edit task"
      about={restored ? "With what you typed last time, which was not saved." : undefined}
      footer={
        <>
          <Button onClick={discard}>Discard</Button>
          <Button weight="primary" type="submit" form="edit-task" busy={save.isPending} disabled={!ready}>
            Save
          </Button>
        </>
      }
    >
      <form
        id="edit-task"
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (ready) save.mutate(words);
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && ready) save.mutate(words);
        }}
      >
        <TextField
          label="Title"
          autoFocus
          required
          value={words.title}
          error={save.error && messageOf(save.error)}
          onChange={(event) => change({ title: event.target.value })}
        />
        <TextArea
          label="Description"
          rows={8}
          value={words.description}
          hint="Markdown. It is what the agent is asked to do when an attempt starts."
          onChange={(event) => change({ description: event.target.value })}
        />
        <TextField
          label="Labels"
          value={words.labels}
          hint="Separated by commas."
          onChange={(event) => change({ labels: event.target.value })}
        />
      </form>
    </Dialog>
  );
}
