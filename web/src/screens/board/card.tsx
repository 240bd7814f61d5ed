// A task on the board: its title, and what there is to know about it at a glance.
// Invariant: it is drawn again only when its own task, card, clash or place changes.

import { useDraggable } from "@dnd-kit/react";
import type { TaskCard } from "@forge/client";
import { Link } from "@tanstack/react-router";
import {
  CircleHelp,
  CircleX,
  Clock,
  FileDiff,
  GitCommitHorizontal,
  GitMerge,
  GitPullRequest,
  type LucideIcon,
  MessageSquareMore,
  MoreHorizontal,
  ShieldQuestion,
  TriangleAlert,
} from "lucide-react";
import { memo } from "react";
import type { BoardTask as Task } from "../../live/tasks";
import { agentLabel } from "../../parts/agents";
import { Figures } from "../../parts/changed";
import type { Clash } from "../../parts/clashes";
import { Overlaps } from "../../parts/overlaps";
import { Badge, Dot } from "../../ui/badge";
import { cx } from "../../ui/class";
import { Ago, Elapsed } from "../../ui/clock";
import { duration, money } from "../../ui/format";
import { type MarkKind, marksOf } from "./marks";
import { isRunning } from "./task-standing";

interface Shown {
  task: Task;
  card: TaskCard | undefined;
  clash: Clash | undefined;
}

interface Props extends Shown {
  /** The one card that Tab reaches. */
  isTabStop: boolean;
  onMenu: (task: Task, anchor: DOMRect) => void;
}

export const HINT_ID = "board-card-hint";
const BOX = "group @container relative flex flex-col gap-1 rounded-md border bg-surface p-3 shadow-card";

export const Card = memo(function Card({ task, card, clash, isTabStop, onMenu }: Props) {
  const { ref, isDragging } = useDraggable({ id: task.id, data: { task, card, clash } });
  const marks = marksOf(task, card, clash);
  const more = marks.flatMap((mark) => mark.more ?? []).join("\n");
  return (
    <div
      ref={ref}
      className={cx(
        BOX,
        "border-line transition-colors hover:border-line-strong",
        "has-[a:focus-visible]:border-accent has-[a:focus-visible]:outline-2 has-[a:focus-visible]:outline-accent",
        isDragging && "opacity-40",
      )}
    >
      <Link
        to="/projects/$projectId/tasks/$taskId"
        params={{ projectId: task.project_id, taskId: task.id }}
        preload={false}
        data-task={task.id}
        tabIndex={isTabStop ? 0 : -1}
        draggable={false}
        title={more || undefined}
        aria-describedby={HINT_ID}
        className="line-clamp-2 pr-5 text-sm outline-none [overflow-wrap:anywhere] after:absolute after:inset-0 after:rounded-md"
      >
        {task.title}
      </Link>
      <Facts task={task} card={card} clash={clash} isTabStop={isTabStop} />
      <button
        type="button"
        data-no-drag
        tabIndex={isTabStop ? 0 : -1}
        aria-label={`Actions for ${task.title}`}
        aria-haspopup="menu"
        onClick={(event) => onMenu(task, event.currentTarget.getBoundingClientRect())}
        className="absolute top-1.5 right-1.5 flex size-7 items-center justify-center rounded-sm text-faint opacity-0 hover:bg-hover hover:text-ink focus-visible:opacity-100 group-hover:opacity-100 pointer-coarse:size-11 pointer-coarse:opacity-100 pointer-coarse:top-0 pointer-coarse:right-0"
      >
        <MoreHorizontal className="size-4" aria-hidden />
      </button>
    </div>
  );
});

/** The card that follows the pointer. */
export function CardInHand({ task, card, clash }: Shown) {
  return (
    <div className={cx(BOX, "rotate-1 cursor-grabbing border-accent shadow-pop max-md:opacity-80")}>
      <p className="line-clamp-2 pr-5 text-sm [overflow-wrap:anywhere]">{task.title}</p>
      <Facts task={task} card={card} clash={clash} />
    </div>
  );
}

const ICON: Record<MarkKind, LucideIcon> = {
  answer: CircleHelp,
  failed: CircleX,
  conflict: TriangleAlert,
  uncommitted: GitCommitHorizontal,
  unverified: ShieldQuestion,
  parked: Clock,
  queued: MessageSquareMore,
  pr: GitPullRequest,
  merged: GitMerge,
};

/** One line of marks, the first in words; what does not fit is not shown. One line about the work. */
function Facts({ task, card, clash, isTabStop = false }: Shown & { isTabStop?: boolean }) {
  const marks = marksOf(task, card, clash);
  const labels = task.labels ?? [];
  const isOver = task.status === "done" || task.status === "cancelled";
  const overlaps = isOver ? [] : (clash?.overlaps ?? []);
  return (
    <>
      {marks.length + labels.length > 0 && (
        <div className="flex h-5 flex-wrap gap-1 overflow-hidden">
          {marks.map(({ kind, tone, text }, at) => {
            const Icon = ICON[kind];
            return at === 0 ? (
              <Badge key={kind} tone={tone} icon={<Icon aria-hidden />}>
                {text}
              </Badge>
            ) : (
              <Badge key={kind} tone={tone}>
                <span className="flex h-5 items-center">
                  <Icon aria-hidden />
                </span>
                <span className="sr-only">{text}</span>
              </Badge>
            );
          })}
          {labels.map((label) => (
            <Badge key={label}>{label}</Badge>
          ))}
        </div>
      )}
      <div className="flex h-5 items-center gap-2 whitespace-nowrap text-faint text-xs tabular">
        <Work task={task} card={card} />
      </div>
      {overlaps.length > 0 && (
        <div className="-mx-1.5 -mb-1.5 flex">
          <Overlaps projectId={task.project_id} overlaps={overlaps} tabIndex={isTabStop ? 0 : -1} className="z-10" />
        </div>
      )}
    </>
  );
}

/** Who works on it, for how long, for how much, and what came of it; narrow columns leave out what can wait. */
function Work({ task, card }: { task: Task; card: TaskCard | undefined }) {
  const agent = card ? { executor: card.executor, variant: card.variant } : task.executor;
  if (!agent) return <Ago time={task.updated_at} />;
  const running = isRunning(task, card);
  const attempts = card?.attempts ?? task.attempt_count;
  return (
    <>
      {running && <Dot tone="accent" alive />}
      <span className={cx("min-w-0 truncate", running && "text-accent")}>{agentLabel(agent)}</span>
      {attempts > 1 && (
        <span>
          <span aria-hidden>×{attempts}</span>
          <span className="sr-only">{attempts} attempts</span>
        </span>
      )}
      {running && (
        <span className="text-accent">{card?.running_since ? <Elapsed since={card.running_since} /> : "working"}</span>
      )}
      {!running && card && card.elapsed_ms > 0 && (
        <span className="@max-[16rem]:hidden">{duration(card.elapsed_ms)}</span>
      )}
      {card?.cost_usd ? <span className="ml-auto">{money(card.cost_usd)}</span> : null}
      {card?.files_changed ? <Changes card={card} /> : null}
    </>
  );
}

function Changes({ card }: { card: TaskCard }) {
  return (
    <span className={cx("inline-flex gap-1.5", !card.cost_usd && "ml-auto")}>
      <span className="inline-flex items-center gap-1 @max-[16rem]:hidden">
        <FileDiff className="size-3" aria-hidden />
        {card.files_changed}
        <span className="sr-only">{card.files_changed === 1 ? "file" : "files"} changed,</span>
      </span>
      <Figures additions={card.additions ?? 0} deletions={card.deletions ?? 0} brief />
    </span>
  );
}
