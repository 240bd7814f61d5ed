// How the project stands, in a line: how many tasks, how many run, how many that wait for a person.

import type { TaskCard } from "@forge/client";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Tasks } from "../../live/tasks";
import { Dot } from "../../ui/badge";
import { count } from "../../ui/format";
import { isRunning, isWaiting } from "./task-standing";

interface Props {
  projectId: string;
  tasks: Tasks;
  cards: ReadonlyMap<string, TaskCard> | undefined;
  loading: boolean;
}

export function Summary({ projectId, tasks, cards, loading }: Props) {
  const [running, waiting, first] = useMemo(() => {
    let running = 0;
    const asking: TaskCard[] = [];
    for (const task of tasks.values()) {
      const card = cards?.get(task.id);
      if (isRunning(task, card)) running += 1;
      if (card && isWaiting(card)) asking.push(card);
    }
    return [running, asking.length, asking[0]] as const;
  }, [tasks, cards]);
  if (loading || tasks.size === 0) return null;
  return (
    <p className="flex items-center gap-3 whitespace-nowrap text-faint text-xs tabular">
      <span>{count(tasks.size, "task")}</span>
      {running > 0 && (
        <span className="flex items-center gap-1.5">
          <Dot tone="accent" alive />
          {running} running
        </span>
      )}
      {first && (
        <Link
          to="/projects/$projectId/tasks/$taskId/attempts/$attemptId"
          params={{ projectId, taskId: first.task_id, attemptId: first.attempt_id }}
          className="flex min-h-6 items-center gap-1.5 rounded-sm text-warn underline-offset-2 hover:underline"
        >
          <Dot tone="warn" />
          {waiting} waiting for you
        </Link>
      )}
    </p>
  );
}
