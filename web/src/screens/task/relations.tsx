// Where a task comes from and what came of it: its parent, and the tasks that its attempts made.

import type { Task, TaskAttempt } from "@forge/client";
import { useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { attemptQuery } from "../../api/queries/attempt";
import { relationsQuery } from "../../api/queries/task";
import { COLUMNS, statusTitle } from "../../parts/status";
import { Dot } from "../../ui/badge";

function TaskLink({ task }: { task: Task }) {
  const tone = COLUMNS.find(({ status }) => status === task.status)?.tone ?? "neutral";
  return (
    <Link
      to="/projects/$projectId/tasks/$taskId"
      params={{ projectId: task.project_id, taskId: task.id }}
      className="flex min-h-9 min-w-0 items-center gap-2 px-3 py-1.5 text-sm -outline-offset-2 hover:bg-hover pointer-coarse:min-h-11"
    >
      <Dot tone={tone} />
      <span className="min-w-0 flex-1 truncate">{task.title}</span>
      <span className="shrink-0 text-faint text-xs">{statusTitle(task.status)}</span>
    </Link>
  );
}

const FRAME = "overflow-hidden rounded-md border border-line bg-surface shadow-card";

export function Parent({ attemptId }: { attemptId: string }) {
  const { data } = useQuery(attemptQuery(attemptId));
  if (data === undefined) return null;
  return (
    <section aria-labelledby="parent" className="flex flex-col gap-2">
      <h2 id="parent" className="font-medium text-muted text-sm">
        Part of
      </h2>
      <div className={FRAME}>
        <TaskLink task={data.task} />
      </div>
    </section>
  );
}

export function Subtasks({ attempts }: { attempts: readonly TaskAttempt[] }) {
  const children = useQueries({
    queries: attempts.map(({ id }) => relationsQuery(id)),
    combine: (answers) => answers.flatMap(({ data }) => data?.children ?? []),
  });
  if (children.length === 0) return null;
  return (
    <section aria-labelledby="subtasks" className="flex flex-col gap-2">
      <h2 id="subtasks" className="font-medium text-muted text-sm">
        Subtasks
      </h2>
      <ul className={`${FRAME} divide-y divide-line`}>
        {children.map((task) => (
          <li key={task.id}>
            <TaskLink task={task} />
          </li>
        ))}
      </ul>
    </section>
  );
}
