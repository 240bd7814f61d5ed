// Writing a task: what is to be done, and who does it. The form is kept in this browser until the server has the task.

import { ForgeError } from "@forge/client";
import { useNavigate } from "@tanstack/react-router";
import { Play } from "lucide-react";
import { type KeyboardEvent, useState } from "react";
import { restoreForm, useDraft } from "../../kept/draft";
import { create, type Failures, launch } from "../../parts/task/launch";
import { StartFields, useAgents } from "../../parts/task/start-fields";
import { EMPTY, flawsOf, isEmpty, type Made, type TaskForm } from "../../parts/task/task-form";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { isSubmit, SUBMIT_KEYS } from "../../ui/kbd";
import { messageOf, Problem } from "../../ui/state";
import { toast } from "../../ui/toast";
import { Tooltip } from "../../ui/tooltip";
import { Fields } from "./new-task-fields";

type Busy = "create" | "start" | null;
const NONE: Failures = new Map();

/** A request whose answer never came may have been done. */
function explain(error: unknown): string {
  if (error instanceof ForgeError) return messageOf(error);
  return `${messageOf(error).replace(/\.?$/, ".")} The task may exist already: look at the board before you try again.`;
}

export function NewTaskDialog({ projectId, onClose }: { projectId: string; onClose: () => void }) {
  const navigate = useNavigate();
  const { value: form, set, clear } = useDraft(`new-task.${projectId}`, (kept) => restoreForm(EMPTY, kept));
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
    const go = (): void => {
      if (attemptId && attempts.length === 1) {
        const to = "/projects/$projectId/tasks/$taskId/attempts/$attemptId";
        void navigate({ to, params: { ...params, attemptId } });
      } else {
        void navigate({ to: "/projects/$projectId/tasks/$taskId", params, search: { stay: true } });
      }
    };
    // Closing may change the address; that comes first, so that Back leads to the board without the dialog.
    setTimeout(go);
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
    if (!isSubmit(event)) return;
    event.preventDefault();
    void run("start");
  };
  const footer = made ? (
    <>
      <Button disabled={busy !== null} onClick={() => open(made)}>
        Leave it at that
      </Button>
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
        Add to To do
      </Button>
      <Tooltip label="Add it and start an agent" keys={SUBMIT_KEYS}>
        <Button
          weight="primary"
          busy={busy === "start"}
          disabled={busy !== null || uploading}
          icon={<Play className="size-4" aria-hidden />}
          onClick={() => void run("start")}
        >
          Start
        </Button>
      </Tooltip>
    </>
  );
  return (
    <Dialog
      open
      // What is being made must end before the form can be opened again.
      onOpenChange={(next) => next || busy || onClose()}
      title={made ? "Start attempts" : "New task"}
      width="lg"
      footer={footer}
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a key for the whole form; the buttons are below */}
      <div className="flex flex-col gap-3" onKeyDown={press}>
        {made ? (
          <p className="text-muted text-sm">
            {form.mode === "issue" ? "The issue is on the board." : `“${form.title.trim()}” is on the board.`}{" "}
            {busy ? "Its attempts are being started." : "Try again what did not start, also with another agent."}
          </p>
        ) : (
          <Fields
            projectId={projectId}
            form={form}
            onChange={change}
            flaws={flaws}
            onSubmit={() => void run("start")}
            onUploading={setUploading}
          />
        )}
        <StartFields
          projectId={projectId}
          form={form}
          agents={agents}
          onChange={change}
          made={made}
          failures={failures}
          budgetFlaw={flaws.budget}
          fixedWorktree={form.mode === "issue"}
        />
        <Problem look="box">{error}</Problem>
      </div>
    </Dialog>
  );
}
