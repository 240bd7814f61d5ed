// The board by keyboard: one card at a time has the focus, arrows and h j k l go to its neighbours.

import type { TaskStatus } from "@forge/client";
import { type KeyboardEvent, useCallback, useEffect, useRef, useState } from "react";
import type { BoardTask as Task } from "../../live/tasks";
import { COLUMNS, type Column } from "../../parts/status";
import { bind } from "../../shell/action";
import { useCommands } from "../../shell/commands";
import { BOARD } from "./actions";
import { placeOn } from "./board-place";
import { type Direction, firstOf, neighbour, placeOf } from "./roving";

const ARROWS: Record<string, Direction> = {
  ArrowUp: "up",
  ArrowDown: "down",
  ArrowLeft: "left",
  ArrowRight: "right",
};

/** A card that was moved has to be drawn and measured in its new column first. Later the focus is somebody else's. */
const PATIENCE_MS = 500;

interface Wish {
  id: string;
  scroll: boolean;
  until: number;
  /** Cards above it may turn out taller than was thought; it is brought into sight again until they are measured. */
  looks: number;
}

const wish = (id: string, scroll: boolean): Wish => ({
  id,
  scroll,
  until: performance.now() + PATIENCE_MS,
  looks: scroll ? 4 : 1,
});

function linkOf(taskId: string): HTMLElement | null {
  return document.querySelector<HTMLElement>(`[data-task="${CSS.escape(taskId)}"]`);
}

interface Given {
  projectId: string;
  /** The columns that are shown. */
  columns: readonly Column[];
  /** Their tasks. */
  lists: readonly (readonly Task[])[];
  tasks: ReadonlyMap<string, Task>;
  onMove: (task: Task, status: TaskStatus) => void;
  onMenu: (task: Task, anchor: DOMRect, movesOnly: boolean) => void;
  /** Asked for any card; only those that wait to be done are started. */
  onStart: (task: Task) => void;
  onEdit: (task: Task) => void;
  onNew: () => void;
  onSearch: () => void;
}

interface Keyboard {
  /** The card that Tab reaches. */
  tabStop: string | undefined;
  focus: (taskId: string | undefined) => void;
  onKeyDown: (event: KeyboardEvent) => void;
  onFocus: (taskId: string) => void;
}

export function useBoardKeyboard(given: Given): Keyboard {
  const { projectId, columns, lists, tasks, onMove, onMenu, onStart, onEdit, onNew, onSearch } = given;
  const place = placeOn(projectId);
  const [active, setActive] = useState(place.taskId);
  const wanted = useRef<Wish>(undefined);
  const [asked, setAsked] = useState(0);
  const tabStop = placeOf(lists, active) ? active : firstOf(lists);

  const focus = useCallback((taskId: string | undefined): void => {
    if (taskId === undefined) return;
    wanted.current = wish(taskId, true);
    setActive(taskId);
    // Also when the card is the same one: the focus may be elsewhere.
    setAsked((count) => count + 1);
  }, []);

  // The card exists once it is the active one, however far away it is, and can have the focus once it is measured.
  // biome-ignore lint/correctness/useExhaustiveDependencies: looked at again whenever somebody asks or the cards change
  useEffect(() => {
    let frame = 0;
    const look = (): void => {
      if (wanted.current === undefined) return;
      const { id, scroll, until } = wanted.current;
      const link = linkOf(id);
      link?.focus({ preventScroll: true });
      const has = link !== null && document.activeElement === link;
      if (has && scroll) link.closest("li")?.scrollIntoView({ block: "nearest", inline: "nearest" });
      wanted.current.looks -= has ? 1 : 0;
      if (wanted.current.looks <= 0 || performance.now() > until) wanted.current = undefined;
      else frame = requestAnimationFrame(look);
    };
    look();
    return () => cancelAnimationFrame(frame);
  }, [asked, lists]);

  const returned = useRef(false);
  useEffect(() => {
    if (returned.current || lists.every((list) => list.length === 0)) return;
    returned.current = true;
    // Coming back to the board; its columns stand where they stood, so nothing has to scroll.
    const free = document.activeElement === document.body || document.activeElement?.id === "main";
    if (place.taskId && free) {
      wanted.current = wish(place.taskId, false);
      setAsked((count) => count + 1);
    }
  }, [lists, place]);

  const focused = (): Task | undefined => {
    const link = document.activeElement?.closest("[data-task]");
    return link instanceof HTMLElement ? tasks.get(link.dataset.task ?? "") : undefined;
  };
  // Keys may come faster than cards are measured: one that is about to have the focus counts as having it.
  const go = (direction: Direction) => (): void =>
    focus(focused() || wanted.current ? neighbour(lists, active, direction) : tabStop);
  const shift = (step: number) => (): void => {
    const task = focused();
    // Where it is shown, which may be ahead of what the server has said.
    const here = columns[placeOf(lists, task?.id)?.[0] ?? -1];
    const next = here && COLUMNS[COLUMNS.indexOf(here) + step];
    if (!task || !next) return;
    onMove(task, next.status);
    focus(task.id);
  };
  const onTask = (act: (task: Task) => void) => (): void => {
    const task = focused();
    if (task) act(task);
  };
  const menu = (movesOnly: boolean) =>
    onTask((task) => {
      const box = linkOf(task.id)?.parentElement?.getBoundingClientRect();
      if (box) onMenu(task, box, movesOnly);
    });
  useCommands([
    bind(BOARD.new, onNew),
    bind(BOARD.search, onSearch),
    bind(BOARD.down, go("down")),
    bind(BOARD.up, go("up")),
    bind(BOARD.left, go("left")),
    bind(BOARD.right, go("right")),
    bind(BOARD.move, menu(true)),
    bind(BOARD.back, shift(-1)),
    bind(BOARD.on, shift(1)),
    bind(BOARD.start, onTask(onStart)),
    bind(BOARD.edit, onTask(onEdit)),
    bind(BOARD.menu, menu(false)),
  ]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const direction = ARROWS[event.key];
    if (!direction || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!focused() && !wanted.current) return;
    event.preventDefault();
    go(direction)();
  };
  const onFocus = useCallback(
    (taskId: string): void => {
      place.taskId = taskId;
      setActive(taskId);
    },
    [place],
  );
  return { tabStop, focus, onKeyDown, onFocus };
}
