// The words of a task: title, description with its images, labels. The same for a new task and for one that is changed.

import { LabelInput } from "../../parts/label-input";
import { PromptBox } from "../../parts/prompt-box";
import type { TaskWords } from "../../parts/task/task-form";
import { Field } from "../../ui/field";

interface Props {
  projectId: string;
  words: TaskWords;
  onChange: (part: Partial<TaskWords>) => void;
  titleFlaw?: string;
  onSubmit: () => void;
  onUploading: (busy: boolean) => void;
}

export function TaskFields({ projectId, words, onChange, titleFlaw, onSubmit, onUploading }: Props) {
  return (
    <>
      <Field label="Title" hideLabel error={titleFlaw}>
        {(ids) => (
          <input
            {...ids}
            value={words.title}
            placeholder="Title"
            autoComplete="off"
            // biome-ignore lint/a11y/noAutofocus: the dialog was opened to write this
            autoFocus
            className="h-9 w-full rounded-md border border-line bg-surface px-2.5 font-medium text-md shadow-card transition-colors placeholder:font-normal hover:border-line-strong focus-visible:border-accent focus-visible:outline-offset-0 aria-invalid:border-bad pointer-coarse:h-11"
            onChange={(event) => onChange({ title: event.target.value })}
          />
        )}
      </Field>
      <PromptBox
        projectId={projectId}
        label="Description"
        placeholder="Describe the task… Type @ to mention files, paste images"
        rows={6}
        preview
        value={words.description}
        onChange={(description) => onChange({ description })}
        images={words.images}
        onImages={(images) => onChange({ images })}
        onSubmit={onSubmit}
        onUploading={onUploading}
      />
      <LabelInput projectId={projectId} value={words.labels} onChange={(labels) => onChange({ labels })} />
    </>
  );
}
