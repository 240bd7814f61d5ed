// Gives a task to one or several agents once more, each on a fresh branch.

import { useNavigate } from "@tanstack/react-router";
import { Play } from "lucide-react";
import { useState } from "react";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { EMPTY_START, type Made, parseBudget } from "./form";
import { type Failures, startAll } from "./launch";
import { StartFields, useAgents } from "./start-fields";

interface Props {
  projectId: string;
  taskId: string;
  open: boolean;
  onOpenChange: (open: boolean) => void;
}

export function StartAttempt({ open, ...rest }: Props) {
  return open ? <StartDialog {...rest} /> : null;
}

const NONE: Failures = new Map();

function StartDialog({ projectId, taskId, onOpenChange }: Omit<Props, "open">) {
  const navigate = useNavigate();
  const [form, setForm] = useState(EMPTY_START);
  const [made, setMade] = useState<Made | null>(null);
  const [failures, setFailures] = useState(NONE);
  const [busy, setBusy] = useState(false);
  const agents = useAgents(projectId, form);
  const wrongBudget = parseBudget(form.budget) === undefined;

  const leave = (now: Made | null): void => {
    onOpenChange(false);
    const [attemptId] = now?.attempts ?? [];
    if (!attemptId || agents.length > 1) return;
    const params = { projectId, taskId, attemptId };
    void navigate({ to: "/projects/$projectId/tasks/$taskId/attempts/$attemptId", params });
  };
  const start = async (): Promise<void> => {
    if (wrongBudget || busy) return;
    setBusy(true);
    const before = made ?? { taskId, attempts: [] };
    const [now, failed] = await startAll({ form, agents, made: before, onMade: setMade });
    setBusy(false);
    setFailures(failed);
    if (failed.size === 0) leave(now);
  };
  const failed = failures.size > 0;
  const footer = (
    <>
      <Button disabled={busy} onClick={() => leave(made)}>
        {made ? "Leave it at that" : "Cancel"}
      </Button>
      <Button
        weight="primary"
        // What the dialog is for: Enter starts.
        autoFocus
        busy={busy}
        disabled={wrongBudget}
        icon={<Play className="size-4" aria-hidden />}
        onClick={() => void start()}
      >
        {failed ? "Try again" : "Start"}
      </Button>
    </>
  );
  return (
    <Dialog
      open
      onOpenChange={(next) => next || busy || leave(made)}
      title="Start an attempt"
      about="The agent begins anew from the base branch, beside what was tried before."
      footer={footer}
    >
      <StartFields
        projectId={projectId}
        form={form}
        onChange={(change) => setForm((now) => ({ ...now, ...change }))}
        made={made}
        failures={failures}
        budgetFlaw={wrongBudget ? "Give an amount above zero, or leave it empty." : undefined}
      />
    </Dialog>
  );
}
