// How the project stands, in a line: how many tasks, how many at work, how many that wait for a person.

import type { TaskCard } from "@forge/client";
import { useMemo } from "react";
import type { Tasks } from "../../live/tasks";
import { Dot } from "../../ui/badge";
import { count } from "../../ui/format";
import { isRunning } from "./marks";

interface Props {
  tasks: Tasks;
  cards: ReadonlyMap<string, TaskCard> | undefined;
  loading: boolean;
}

export function Summary({ tasks, cards, loading }: Props) {
  const [running, waiting] = useMemo(() => {
    let running = 0;
    let waiting = 0;
    for (const task of tasks.values()) {
      const card = cards?.get(task.id);
      if (isRunning(task, card)) running += 1;
      if (card?.waiting_approvals) waiting += 1;
    }
    return [running, waiting];
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
      {waiting > 0 && (
        <span className="flex items-center gap-1.5 text-warn">
          <Dot tone="warn" />
          {waiting} waiting for you
        </span>
      )}
    </p>
  );
}
