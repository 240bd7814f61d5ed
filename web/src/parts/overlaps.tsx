// Which other tasks change the same lines: a quiet number, and their names for whoever asks.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Layers2 } from "lucide-react";
import { useState } from "react";
import { cardsQuery } from "../api/queries/project";
import { taskQuery } from "../api/queries/task";
import { cx } from "../ui/class";
import { Popover } from "../ui/popover";
import { filesText, type Overlap } from "./clashes";

interface Props {
  projectId: string;
  overlaps: readonly Overlap[];
  tabIndex?: number;
  className?: string;
}

export function Overlaps({ projectId, overlaps, tabIndex, className }: Props) {
  const [open, setOpen] = useState(false);
  const trigger = (
    <button
      type="button"
      data-no-drag
      tabIndex={tabIndex}
      aria-label={`Overlaps ${overlaps.length}: show the tasks`}
      className={cx(
        "relative inline-flex h-6 shrink-0 items-center gap-1 rounded-sm px-1.5 text-muted text-xs tabular hover:bg-hover hover:text-ink",
        // A finger needs more room than the word takes.
        "pointer-coarse:after:absolute pointer-coarse:after:-inset-x-2 pointer-coarse:after:-inset-y-2.5",
        className,
      )}
    >
      <Layers2 className="size-3" aria-hidden />
      overlaps {overlaps.length}
    </button>
  );
  return (
    <Popover
      trigger={trigger}
      open={open}
      onOpenChange={setOpen}
      label="Tasks that change the same lines"
      className="w-80 p-3"
    >
      <p className="mb-2 text-muted text-xs">
        Changes the same lines as {overlaps.length === 1 ? "this task" : "these tasks"}. Whichever merges second will
        need a rebase.
      </p>
      <ul className="flex flex-col gap-2 overflow-y-auto">
        {overlaps.map((overlap) => (
          <Neighbour key={overlap.attemptId} projectId={projectId} overlap={overlap} />
        ))}
      </ul>
    </Popover>
  );
}

/** By the task's title; the branch has to do until that is known. */
function Neighbour({ projectId, overlap: { attemptId, branch, files } }: { projectId: string; overlap: Overlap }) {
  const { data: cards } = useQuery(cardsQuery(projectId));
  const taskId = [...(cards?.values() ?? [])].find((card) => card.attempt_id === attemptId)?.task_id;
  const { data: task } = useQuery({ ...taskQuery(projectId, taskId ?? ""), enabled: taskId !== undefined });
  return (
    <li className="min-w-0 text-sm">
      {task ? (
        <Link
          to="/projects/$projectId/tasks/$taskId/attempts/$attemptId"
          params={{ projectId, taskId: task.id, attemptId }}
          search={{ view: "diffs" }}
          className="break-words font-medium underline-offset-2 hover:underline"
        >
          {task.title}
        </Link>
      ) : (
        <span className="break-words font-mono text-xs">{branch}</span>
      )}
      <p className="break-words font-mono text-faint text-xs">{filesText(files)}</p>
    </li>
  );
}
