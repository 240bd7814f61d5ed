// What a new task asks for: written here, begun with a template, or taken from an issue.

import { type Flaws, type TaskForm, withTemplate } from "../../parts/task/task-form";
import { TextField } from "../../ui/field";
import { Segments } from "../../ui/segments";
import { TaskFields } from "./task-fields";
import { TemplateMenu } from "./template-menu";

interface Props {
  projectId: string;
  form: TaskForm;
  onChange: (part: Partial<TaskForm>) => void;
  flaws: Flaws;
  onSubmit: () => void;
  onUploading: (busy: boolean) => void;
}

export function Fields({ projectId, form, onChange, flaws, onSubmit, onUploading }: Props) {
  return (
    <>
      <div className="flex min-h-8 flex-wrap items-center justify-between gap-2">
        <Segments
          label="Where the task comes from"
          value={form.mode}
          onChange={(mode) => onChange({ mode })}
          options={[
            { value: "write", label: "New" },
            { value: "issue", label: "From GitHub issue" },
          ]}
        />
        {form.mode === "write" && (
          <TemplateMenu projectId={projectId} onChoose={(template) => onChange(withTemplate(form, template))} />
        )}
      </div>
      {form.mode === "write" ? (
        <TaskFields
          projectId={projectId}
          words={form}
          onChange={onChange}
          titleFlaw={flaws.title}
          onSubmit={onSubmit}
          onUploading={onUploading}
        />
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
