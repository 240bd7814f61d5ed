// One column: its head and its cards, of which only those in sight exist.
// Invariant: the card that has the focus and the card in the hand exist even out of sight.

import { useDragOperation, useDroppable } from "@dnd-kit/react";
import type { TaskCard } from "@forge/client";
import { memo, type ReactNode, useLayoutEffect, useMemo, useRef, useState } from "react";
import { Virtualizer, type VirtualizerHandle } from "virtua";
import type { BoardTask as Task } from "../../live/tasks";
import type { Clashes } from "../../parts/clashes";
import type { Column as ColumnOf } from "../../parts/status";
import { Dot } from "../../ui/badge";
import { cx } from "../../ui/class";
import { placeOn } from "./board-place";
import { Card } from "./card";

export interface CardsShown {
  projectId: string;
  cards: ReadonlyMap<string, TaskCard> | undefined;
  clashes: Clashes;
  tabStop: string | undefined;
  onMenu: (task: Task, anchor: DOMRect) => void;
}

interface Props extends CardsShown {
  column: ColumnOf;
  tasks: readonly Task[];
  /** The heads of a phone's columns are its tabs. */
  hideHead?: boolean;
}

export const Column = memo(function Column({ column, tasks, hideHead, ...shown }: Props) {
  return (
    <ColumnFrame column={column} count={tasks.length} hideHead={hideHead}>
      <Cards column={column} tasks={tasks} {...shown} />
    </ColumnFrame>
  );
});

interface FrameProps {
  column: ColumnOf;
  /** Unknown while the tasks are on their way. */
  count: number | undefined;
  hideHead?: boolean;
  children: ReactNode;
}

/** Drawn apart from its cards, so that a card over it does not draw them all again. */
function ColumnFrame({ column, count, hideHead, children }: FrameProps) {
  // On a phone the tabs are where cards are dropped, and they have the columns' names.
  const id = hideHead ? `shown:${column.status}` : column.status;
  const { ref, isDropTarget } = useDroppable({ id, disabled: hideHead });
  return (
    <section
      ref={ref}
      aria-label={column.title}
      className={cx(
        "flex h-full min-w-56 flex-1 flex-col rounded-lg bg-sunken",
        isDropTarget && "inset-ring-2 inset-ring-accent",
      )}
    >
      {!hideHead && (
        <header className="flex h-9 shrink-0 items-center gap-2 px-3">
          <Dot tone={column.tone} />
          <h2 className="truncate font-medium text-sm">{column.title}</h2>
          <span className="text-faint text-xs tabular">{count?.toLocaleString("en-US")}</span>
        </header>
      )}
      {hideHead && <div className="h-1.5 shrink-0" />}
      {children}
    </section>
  );
}

function Cards({ projectId, column: { status }, tasks, cards, clashes, tabStop, onMenu }: Omit<Props, "hideHead">) {
  const list = useRef<VirtualizerHandle>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const { source } = useDragOperation();
  const held = source?.id;
  const keep = useMemo(
    () => tasks.flatMap(({ id }, at) => (id === tabStop || id === held ? [at] : [])),
    [tasks, tabStop, held],
  );
  const { scrolled } = placeOn(projectId);
  const [before] = useState(() => scrolled.get(status));
  // Sizes that were measured for another list would be wrong for this one.
  const [sizes] = useState(before?.length === tasks.length ? before.sizes : undefined);
  useLayoutEffect(() => {
    if (before) list.current?.scrollTo(before.offset);
  }, [before]);
  const length = useRef(tasks.length);
  length.current = tasks.length;
  useLayoutEffect(() => {
    const handle = list.current;
    return () => {
      if (!handle) return;
      scrolled.set(status, { offset: handle.scrollOffset, length: length.current, sizes: handle.cache });
    };
  }, [scrolled, status]);
  return (
    <div ref={scroller} className="min-h-0 flex-1 overflow-y-auto overscroll-contain px-2 pb-2 [scrollbar-width:thin]">
      <Virtualizer ref={list} scrollRef={scroller} data={tasks} as="ul" item="li" cache={sizes} keepMounted={keep}>
        {(task) => (
          <div key={task.id} className="pt-0.5 pb-1.5">
            <Card
              task={task}
              card={cards?.get(task.id)}
              clash={clashes.get(cards?.get(task.id)?.attempt_id ?? "")}
              isTabStop={task.id === tabStop}
              onMenu={onMenu}
            />
          </div>
        )}
      </Virtualizer>
    </div>
  );
}

const GHOSTS = [3, 2, 2, 1, 1];

/** The columns before their tasks are known. */
export function ColumnGhost({ column, at, hideHead }: { column: ColumnOf; at: number; hideHead?: boolean }) {
  return (
    <ColumnFrame column={column} count={undefined} hideHead={hideHead}>
      <div className="flex flex-col gap-2 px-2 pt-0.5" aria-hidden>
        {Array.from({ length: GHOSTS[at] ?? 1 }, (_, nth) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same
          <div key={nth} className="flex h-18 flex-col gap-2 rounded-md border border-line bg-surface p-3">
            <div className="h-3 w-4/5 rounded-sm bg-hover" />
            <div className="h-3 w-2/5 rounded-sm bg-hover" />
          </div>
        ))}
      </div>
    </ColumnFrame>
  );
}
