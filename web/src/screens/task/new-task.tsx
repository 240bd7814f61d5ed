// Writing a task: what is to be done, and who does it. The form is kept in this browser until the server has the task.

import { ForgeError } from "@forge/client";
import { useNavigate } from "@tanstack/react-router";
import { Play } from "lucide-react";
import { type KeyboardEvent, useState } from "react";
import { useDraft } from "../../parts/draft";
import { LabelInput } from "../../parts/label-input";
import { PromptBox } from "../../parts/prompt-box";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { Field, TextField } from "../../ui/field";
import { Segments } from "../../ui/segments";
import { Failure, messageOf } from "../../ui/state";
import { toast } from "../../ui/toast";
import { Tooltip } from "../../ui/tooltip";
import { flawsOf, isEmpty, type Made, restoreForm, type TaskForm, withTemplate } from "./form";
import { create, type Failures, launch } from "./launch";
import { StartFields, useAgents } from "./start-fields";
import { TemplateMenu } from "./template-menu";

interface Props {
  projectId: string;
  open: boolean;
  onOpenChange: (open: boolean) => void;
}

export function NewTask({ projectId, open, onOpenChange }: Props) {
  return open ? <NewTaskDialog key={projectId} projectId={projectId} onClose={() => onOpenChange(false)} /> : null;
}

type Busy = "create" | "start" | null;
const NONE: Failures = new Map();

/** A request whose answer never came may have been done. */
function explain(error: unknown): string {
  if (error instanceof ForgeError) return messageOf(error);
  return `${messageOf(error)}. The task may exist already: look at the board before you try again.`;
}

function NewTaskDialog({ projectId, onClose }: { projectId: string; onClose: () => void }) {
  const navigate = useNavigate();
  const { value: form, set, clear } = useDraft(`new-task.${projectId}`, restoreForm);
  const agents = useAgents(projectId, form);
  const [busy, setBusy] = useState<Busy>(null);
  const [uploading, setUploading] = useState(false);
  const [tried, setTried] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const [failures, setFailures] = useState(NONE);
  const change = (part: Partial<TaskForm>): void => set((now) => ({ ...now, ...part }));
  const flaws = tried ? flawsOf(form) : {};
  const { made } = form;

  const open = ({ taskId, attempts }: Made): void => {
    clear();
    onClose();
    const [attemptId] = attempts;
    const params = { projectId, taskId };
    if (attemptId && attempts.length === 1) {
      void navigate({ to: "/projects/$projectId/tasks/$taskId/attempts/$attemptId", params: { ...params, attemptId } });
    } else {
      void navigate({ to: "/projects/$projectId/tasks/$taskId", params, search: { stay: true } });
    }
  };
  const run = async (what: Exclude<Busy, null>): Promise<void> => {
    setTried(true);
    if (busy || uploading || Object.keys(flawsOf(form)).length > 0) return;
    setBusy(what);
    setError(null);
    try {
      if (what === "create") {
        await create(projectId, form);
        clear();
        onClose();
        toast.done(form.mode === "issue" ? "The issue is on the board" : `Created “${form.title.trim()}”`);
        return;
      }
      const [now, failed] = await launch({ projectId, form, agents, onMade: (made) => change({ made }) });
      setFailures(failed);
      if (failed.size === 0) open(now);
    } catch (reason) {
      setError(explain(reason));
    } finally {
      setBusy(null);
    }
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void run("start");
  };
  const footer = made ? (
    <>
      <Button onClick={() => open(made)}>Leave it at that</Button>
      <Button weight="primary" busy={busy === "start"} onClick={() => void run("start")}>
        Try again
      </Button>
    </>
  ) : (
    <>
      {!isEmpty(form) && (
        <Button weight="ghost" className="mr-auto" disabled={busy !== null} onClick={clear}>
          Clear
        </Button>
      )}
      <Button busy={busy === "create"} disabled={busy !== null || uploading} onClick={() => void run("create")}>
        Create
      </Button>
      <Tooltip label="Create and start" keys="mod+enter">
        <Button
          weight="primary"
          busy={busy === "start"}
          disabled={busy !== null || uploading}
          icon={<Play className="size-4" aria-hidden />}
          onClick={() => void run("start")}
        >
          Create and start
        </Button>
      </Tooltip>
    </>
  );
  return (
    <Dialog
      open
      // What is being made must end before the form can be opened anew.
      onOpenChange={(next) => next || busy || onClose()}
      title="New task"
      width="lg"
      footer={footer}
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a key for the whole form; the buttons are below */}
      <div className="flex flex-col gap-3" onKeyDown={press}>
        <div className="flex min-h-8 flex-wrap items-center justify-between gap-2">
          <Segments
            label="Where the task comes from"
            value={form.mode}
            onChange={(mode) => change({ mode })}
            options={[
              { value: "write", label: "Write it", disabled: made !== null },
              { value: "issue", label: "From a GitHub issue", disabled: made !== null },
            ]}
          />
          {form.mode === "write" && !made && (
            <TemplateMenu projectId={projectId} onChoose={(template) => set((now) => withTemplate(now, template))} />
          )}
        </div>
        {form.mode === "issue" ? (
          <TextField
            label="Issue"
            hint="Its title and text become the task; the issue gets a comment with the task's name."
            placeholder="42, or https://github.com/…/issues/42"
            autoFocus
            value={form.issue}
            error={flaws.issue}
            disabled={made !== null}
            onChange={(event) => change({ issue: event.target.value })}
          />
        ) : (
          <WriteFields
            projectId={projectId}
            form={form}
            onChange={change}
            titleFlaw={flaws.title}
            onSubmit={() => void run("start")}
            onUploading={setUploading}
          />
        )}
        <StartFields
          projectId={projectId}
          form={form}
          onChange={change}
          made={made}
          failures={failures}
          budgetFlaw={flaws.budget}
          fixedWorktree={form.mode === "issue"}
        />
        {made && <p className="text-muted text-sm">The task is made. What did not start can be tried again.</p>}
        {error && (
          <div className="-m-4">
            <Failure error={error} />
          </div>
        )}
      </div>
    </Dialog>
  );
}

interface WriteProps {
  projectId: string;
  form: TaskForm;
  onChange: (part: Partial<TaskForm>) => void;
  titleFlaw: string | undefined;
  onSubmit: () => void;
  onUploading: (busy: boolean) => void;
}

function WriteFields({ projectId, form, onChange, titleFlaw, onSubmit, onUploading }: WriteProps) {
  const made = form.made !== null;
  return (
    <>
      <Field label="Title" hideLabel error={titleFlaw}>
        {(ids) => (
          <input
            {...ids}
            value={form.title}
            disabled={made}
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
        disabled={made}
        onSubmit={onSubmit}
        onUploading={onUploading}
      />
      <LabelInput
        projectId={projectId}
        value={form.labels}
        onChange={(labels) => onChange({ labels })}
        disabled={made}
      />
    </>
  );
}
