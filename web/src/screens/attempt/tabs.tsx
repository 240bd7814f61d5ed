// The views of an attempt, as links: each has an address of its own.

import type { ExecutionProcess, TaskAttempt } from "@forge/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { figuresQuery } from "../../api/queries/review";
import { useChannel } from "../../live/channel";
import { diffChannel, type Sum, sumOf } from "../../live/diff";
import { Figures } from "../../parts/changed";
import { ATTEMPT_VIEWS, type AttemptView } from "../../views";
import { ATTEMPT } from "./actions";

interface Props {
  view: AttemptView;
  attempt: TaskAttempt;
  processes: readonly ExecutionProcess[];
}

export function Tabs({ view: current, attempt, processes }: Props) {
  const beside: Partial<Record<AttemptView, ReactNode>> = {
    diffs: current === "diffs" ? <LiveFigures attemptId={attempt.id} /> : <LookedUpFigures attemptId={attempt.id} />,
    processes: processes.length > 0 && <span className="text-faint text-xs tabular">{processes.length}</span>,
  };
  return (
    <nav aria-label="Views of the attempt" className="flex shrink-0 gap-1 overflow-x-auto border-line border-b px-3">
      {ATTEMPT_VIEWS.map((view) => (
        <Link
          key={view}
          to="/projects/$projectId/tasks/$taskId/attempts/$attemptId"
          params={{ projectId: attempt.project_id, taskId: attempt.task_id, attemptId: attempt.id }}
          search={view === current ? true : view === "log" ? {} : { view }}
          // Without these the log would be current in every view: its address is the beginning of theirs.
          activeOptions={{ exact: true, includeSearch: true }}
          className="-mb-px flex h-9 shrink-0 items-center gap-1.5 border-transparent border-b-2 px-2 text-muted text-sm outline-offset-[-2px] hover:text-ink aria-[current=page]:border-accent aria-[current=page]:text-ink pointer-coarse:h-11"
        >
          {ATTEMPT[view].label}
          {beside[view]}
        </Link>
      ))}
    </nav>
  );
}

/** Beside the list of files, from the same stream: the two never differ. */
function LiveFigures({ attemptId }: { attemptId: string }) {
  return <Total sum={sumOf(useChannel(diffChannel(attemptId)).value)} />;
}

/** Elsewhere those of the card are enough. */
function LookedUpFigures({ attemptId }: { attemptId: string }) {
  const { data } = useQuery(figuresQuery(attemptId));
  return <Total sum={data} />;
}

function Total({ sum }: { sum: Sum | undefined }) {
  return sum && sum.files > 0 ? <Figures additions={sum.additions} deletions={sum.deletions} /> : null;
}
