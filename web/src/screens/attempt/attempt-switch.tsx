// Which of the task's attempts is shown, and the way to the others.

import type { ListedAttempt, TaskAttempt } from "@forge/client";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { ChevronsUpDown, Columns2, Plus } from "lucide-react";
import { agentLabel, choiceOf } from "../../parts/agents";
import { AttemptDot } from "../../parts/attempt-state";
import { ATTEMPT_STATE } from "../../parts/status";
import { Ago } from "../../ui/clock";
import { Menu, MenuItem, MenuLabel, MenuLine } from "../../ui/menu";

interface Props {
  attempt: TaskAttempt;
  /** Newest first. */
  attempts: readonly ListedAttempt[];
  onNew: () => void;
}

export function AttemptSwitch({ attempt, attempts, onNew }: Props) {
  const navigate = useNavigate();
  const { view } = useSearch({ from: "/projects/$projectId/tasks/$taskId/attempts/$attemptId" });
  const { project_id: projectId, task_id: taskId } = attempt;
  const at = attempts.findIndex(({ id }) => id === attempt.id);
  const numberOf = (index: number): number => attempts.length - index;
  const other = attempts[at === 0 ? 1 : 0];
  const open = (attemptId: string): void => {
    const to = "/projects/$projectId/tasks/$taskId/attempts/$attemptId";
    void navigate({ to, params: { projectId, taskId, attemptId }, search: { view } });
  };
  const trigger = (
    <button
      type="button"
      className="-ml-2 flex h-7 min-w-0 items-center gap-1.5 rounded-sm px-2 text-sm hover:bg-hover pointer-coarse:min-h-11"
    >
      <span className="truncate">{nameOf(attempt)}</span>
      <span className="shrink-0 text-faint tabular">
        <span className="sr-only">, attempt </span>
        {numberOf(at)} of {attempts.length}
      </span>
      <ChevronsUpDown className="size-3.5 shrink-0 text-faint" aria-hidden />
    </button>
  );
  return (
    <Menu trigger={trigger} align="start">
      <MenuLabel>Attempts</MenuLabel>
      {attempts.map((each, index) => (
        <MenuItem
          key={each.id}
          icon={
            <span className="flex size-4 items-center justify-center">
              <AttemptDot status={each.status} />
            </span>
          }
          onSelect={() => open(each.id)}
        >
          <span className={each.id === attempt.id ? "font-medium" : undefined}>
            {numberOf(index)}. {nameOf(each)}
          </span>
          <span className="text-faint">
            {" "}
            {ATTEMPT_STATE[each.status].title} · <Ago time={each.created_at} />
          </span>
        </MenuItem>
      ))}
      <MenuLine />
      {other && (
        <MenuItem
          icon={<Columns2 aria-hidden />}
          onSelect={() =>
            void navigate({
              to: "/projects/$projectId/tasks/$taskId/compare",
              params: { projectId, taskId },
              search: { a: attempt.id, b: other.id },
            })
          }
        >
          Compare attempts
        </MenuItem>
      )}
      <MenuItem icon={<Plus aria-hidden />} onSelect={onNew}>
        Start an attempt…
      </MenuItem>
    </Menu>
  );
}

const nameOf = ({ executor_profile_id }: TaskAttempt): string => agentLabel(choiceOf(executor_profile_id));
