// What the processes of an attempt wrote, as it was: one process at a time.

import type { ExecutionProcess, TaskAttempt } from "@forge/client";
import { useNavigate } from "@tanstack/react-router";
import { ScrollText } from "lucide-react";
import { agentLabel } from "../../../parts/agents";
import { Select } from "../../../ui/field";
import { timeOfDay } from "../../../ui/format";
import { Empty } from "../../../ui/state";
import { profileOf, REASON } from "../attempt-standing";
import { RawLogView } from "./raw-log-view";

interface Props {
  attempt: TaskAttempt;
  processes: readonly ExecutionProcess[];
  /** From the address; the newest when it names none. */
  processId: string | undefined;
}

export function RawView({ attempt, processes, processId }: Props) {
  const navigate = useNavigate();
  const current = processes.find(({ id }) => id === processId) ?? processes.at(-1);
  if (current === undefined) {
    return (
      <Empty icon={<ScrollText aria-hidden />} title="Nothing has run yet">
        Output appears here as soon as the first process starts.
      </Empty>
    );
  }
  const choose = (process: string): void => {
    const params = { projectId: attempt.project_id, taskId: attempt.task_id, attemptId: attempt.id };
    const to = "/projects/$projectId/tasks/$taskId/attempts/$attemptId";
    void navigate({ to, params, search: { view: "raw", process }, replace: true });
  };
  const chooser = (
    <Select
      label="Process"
      hideLabel
      value={current.id}
      onChange={(event) => choose(event.target.value)}
      options={processes.map((process, at) => ({ value: process.id, label: `${at + 1}. ${titleOf(process)}` }))}
    />
  );
  return <RawLogView key={current.id} process={current} chooser={chooser} />;
}

function titleOf(process: ExecutionProcess): string {
  const profile = profileOf(process);
  const time = timeOfDay(process.started_at);
  return `${profile ? agentLabel(profile) : REASON[process.run_reason]}, ${time}`;
}
