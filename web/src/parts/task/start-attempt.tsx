// Gives a task to one or several agents once more, each on a fresh branch.

import type { ListedAttempt } from "@forge/client";
import { useNavigate } from "@tanstack/react-router";
import { Play } from "lucide-react";
import { useState } from "react";
import { FormDialog } from "../../ui/form-dialog";
import { choiceOf } from "../agents";
import { BUDGET_FLAW, parseBudget } from "../budget";
import { type Failures, startAll } from "./launch";
import { StartFields, useAgents } from "./start-fields";
import { EMPTY_START, type Made, type StartForm } from "./task-form";

/** An attempt to begin with: on top of its work, afresh beside it, or afresh because its agent cannot work. */
interface Origin {
  attempt: Pick<ListedAttempt, "branch" | "target_branch" | "executor_profile_id">;
  from: "here" | "afresh" | "other";
}

interface Props {
  projectId: string;
  taskId: string;
  origin?: Origin;
  onClose: () => void;
}

const NONE: Failures = new Map();

function formOf(origin: Origin | undefined): StartForm {
  if (origin === undefined) return EMPTY_START;
  const { branch, target_branch, executor_profile_id } = origin.attempt;
  const base = origin.from === "here" ? branch : target_branch;
  return { ...EMPTY_START, agents: [origin.from === "other" ? null : choiceOf(executor_profile_id)], base };
}

export function StartAttempt({ projectId, taskId, origin, onClose }: Props) {
  const navigate = useNavigate();
  const [form, setForm] = useState(() => formOf(origin));
  const [made, setMade] = useState<Made | null>(null);
  const [failures, setFailures] = useState(NONE);
  const [busy, setBusy] = useState(false);
  const except = origin?.from === "other" ? origin.attempt.executor_profile_id.executor : undefined;
  const agents = useAgents(projectId, form, except);
  const wrongBudget = parseBudget(form.budget) === undefined;
  const isOnTop = origin !== undefined && form.base === origin.attempt.branch;

  const leave = (now: Made | null): void => {
    onClose();
    const [attemptId] = now?.attempts ?? [];
    if (now === null) return;
    const params = { projectId, taskId };
    if (attemptId && agents.length === 1) {
      const to = "/projects/$projectId/tasks/$taskId/attempts/$attemptId";
      void navigate({ to, params: { ...params, attemptId } });
    } else {
      void navigate({ to: "/projects/$projectId/tasks/$taskId", params, search: { stay: true } });
    }
  };
  const start = async (): Promise<void> => {
    setBusy(true);
    const before = made ?? { taskId, attempts: [] };
    const [now, failed] = await startAll({ form, agents, made: before, onMade: setMade });
    setBusy(false);
    setFailures(failed);
    if (failed.size === 0) leave(now);
  };
  return (
    <FormDialog
      onClose={() => busy || leave(made)}
      title={origin === undefined || origin.from === "afresh" ? "Start an attempt" : "Switch agent"}
      about={
        isOnTop
          ? "The agent sees what is committed in this attempt, and its work merges back into this attempt's branch."
          : "The agent starts from the base branch. Other attempts are not changed."
      }
      verb={failures.size > 0 ? "Try again" : "Start"}
      icon={<Play className="size-4" aria-hidden />}
      busy={busy}
      blocked={wrongBudget}
      ready
      onSubmit={() => void start()}
      cancel={{ word: made ? "Leave it at that" : "Cancel", run: () => leave(made) }}
    >
      <StartFields
        projectId={projectId}
        form={form}
        agents={agents}
        onChange={(change) => setForm((now) => ({ ...now, ...change }))}
        made={made}
        failures={failures}
        budgetFlaw={wrongBudget ? BUDGET_FLAW : undefined}
      />
    </FormDialog>
  );
}
