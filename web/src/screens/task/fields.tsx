// What a new task asks for: written here, begun with a template, or taken from an issue.

import { LabelInput } from "../../parts/label-input";
import { PromptBox } from "../../parts/prompt-box";
import { Field, TextField } from "../../ui/field";
import { Segments } from "../../ui/segments";
import { type Flaws, type TaskForm, withTemplate } from "./form";
import { TemplateMenu } from "./template-menu";

interface Props {
  projectId: string;
  form: TaskForm;
  onChange: (part: Partial<TaskForm>) => void;
  flaws: Flaws;
  onSubmit: () => void;
  onUploading: (busy: boolean) => void;
}

export function Fields(props: Props) {
  const { projectId, form, onChange, flaws } = props;
  return (
    <>
      <div className="flex min-h-8 flex-wrap items-center justify-between gap-2">
        <Segments
          label="Where the task comes from"
          value={form.mode}
          onChange={(mode) => onChange({ mode })}
          options={[
            { value: "write", label: "Write it" },
            { value: "issue", label: "From a GitHub issue" },
          ]}
        />
        {form.mode === "write" && (
          <TemplateMenu projectId={projectId} onChoose={(template) => onChange(withTemplate(form, template))} />
        )}
      </div>
      {form.mode === "write" ? (
        <WriteFields {...props} />
      ) : (
        <TextField
          label="Issue"
          hint="Its title and text become the task; the issue gets a comment that names the task."
          placeholder="42, or https://github.com/…/issues/42"
          value={form.issue}
          error={flaws.issue}
          onChange={(event) => onChange({ issue: event.target.value })}
        />
      )}
    </>
  );
}

function WriteFields({ projectId, form, onChange, flaws, onSubmit, onUploading }: Props) {
  return (
    <>
      <Field label="Title" hideLabel error={flaws.title}>
        {(ids) => (
          <input
            {...ids}
            value={form.title}
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
        placeholder="What should be done? Markdown; @ for files and tags; paste or drop images."
        rows={6}
        preview
        value={form.description}
        onChange={(description) => onChange({ description })}
        images={form.images}
        onImages={(images) => onChange({ images })}
        onSubmit={onSubmit}
        onUploading={onUploading}
      />
      <LabelInput projectId={projectId} value={form.labels} onChange={(labels) => onChange({ labels })} />
    </>
  );
}
