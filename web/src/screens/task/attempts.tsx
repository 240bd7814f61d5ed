// The attempts of a task, newest first: who, how it stands, what it changed and cost.

import type { TaskAttempt } from "@forge/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Columns2, GitBranch, Play } from "lucide-react";
import { figuresQuery } from "../../api/queries/review";
import { agentLabel, choiceOf } from "../../parts/agents";
import { AttemptState } from "../../parts/attempt-state";
import { Figures } from "../../parts/changed";
import { Button, buttonClass } from "../../ui/button";
import { Ago } from "../../ui/clock";
import { count, money } from "../../ui/format";
import { Empty } from "../../ui/state";

interface Props {
  projectId: string;
  taskId: string;
  attempts: readonly TaskAttempt[];
  onStart: () => void;
}

export function Attempts({ projectId, taskId, attempts, onStart }: Props) {
  const [newest, before] = attempts;
  return (
    <section aria-labelledby="attempts" className="flex flex-col gap-2">
      <div className="flex min-h-7 flex-wrap items-center gap-2">
        <h2 id="attempts" className="mr-auto font-medium text-muted text-sm">
          Attempts
        </h2>
        {newest && before && (
          <Link
            to="/projects/$projectId/tasks/$taskId/compare"
            params={{ projectId, taskId }}
            search={{ a: before.id, b: newest.id }}
            className={buttonClass("ghost", "sm")}
          >
            <Columns2 className="size-3.5" aria-hidden />
            Compare
          </Link>
        )}
      </div>
      <div className="overflow-hidden rounded-md border border-line bg-surface shadow-card">
        {attempts.length === 0 ? (
          <Empty
            title="No attempts yet"
            action={
              <Button weight="primary" icon={<Play className="size-4" aria-hidden />} onClick={onStart}>
                Start an attempt
              </Button>
            }
          >
            An attempt gives the task to an agent, on a branch of its own.
          </Empty>
        ) : (
          <ol className="divide-y divide-line">
            {attempts.map((attempt, at) => (
              <Row key={attempt.id} attempt={attempt} projectId={projectId} number={attempts.length - at} />
            ))}
          </ol>
        )}
      </div>
    </section>
  );
}

function Row({ attempt, projectId, number }: { attempt: TaskAttempt; projectId: string; number: number }) {
  const { id, task_id, status, branch, created_at, cost_usd, executor_profile_id } = attempt;
  const cost = cost_usd == null ? null : money(cost_usd);
  return (
    <li>
      <Link
        to="/projects/$projectId/tasks/$taskId/attempts/$attemptId"
        params={{ projectId, taskId: task_id, attemptId: id }}
        className="grid min-h-10 grid-cols-[1.5rem_1fr_auto] items-center gap-x-3 gap-y-0.5 px-3 py-2 text-sm -outline-offset-2 hover:bg-hover sm:grid-cols-[1.5rem_minmax(0,1fr)_6rem_8rem_4rem_5rem]"
      >
        <span className="text-faint text-xs tabular">
          <span className="sr-only">Attempt </span>
          {number}
        </span>
        <span className="min-w-0">
          <span className="block truncate font-medium">{agentLabel(choiceOf(executor_profile_id))}</span>
          <span className="flex items-center gap-1 text-faint text-xs">
            <GitBranch className="size-3 shrink-0" aria-hidden />
            <span className="truncate">{branch}</span>
          </span>
        </span>
        <span className="text-muted text-xs">
          <AttemptState status={status} />
        </span>
        <span className="col-start-2 flex flex-wrap gap-x-3 text-xs sm:col-start-auto">
          <Changed attempt={attempt} />
          <span className="text-muted tabular sm:hidden">{cost}</span>
        </span>
        <span className="hidden text-right text-muted text-xs tabular sm:block">{cost}</span>
        <span className="text-right text-faint text-xs">
          <Ago time={created_at} />
        </span>
      </Link>
    </li>
  );
}

function Changed({ attempt: { id } }: { attempt: TaskAttempt }) {
  const { data } = useQuery(figuresQuery(id));
  if (data === undefined) return null;
  if (data.files === 0) return <span className="text-faint">No changes</span>;
  return (
    <span className="flex flex-wrap gap-x-2 text-muted tabular">
      {count(data.files, "file")}
      <Figures additions={data.additions} deletions={data.deletions} />
    </span>
  );
}
