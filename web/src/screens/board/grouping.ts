// Tasks sorted into columns, the newest first, those that wait for a person before all others.
// Invariants: a column in which nothing changed is the same array as before, so that it is not drawn again; tasks that
// were changed at the same moment always stand in the same order.

import type { TaskCard, TaskStatus } from "@forge/client";
import type { BoardTask as Task } from "../../live/tasks";
import { COLUMNS } from "../../parts/status";
import { type Filter, matches } from "./filter";
import { columnOf, isWaiting } from "./task-standing";

export type Columns = ReadonlyMap<TaskStatus, readonly Task[]>;
/** Where tasks were put by this page, before the server has said so. */
export type Moves = ReadonlyMap<string, TaskStatus>;
export type Cards = ReadonlyMap<string, TaskCard>;

interface Timed {
  task: Task;
  at: number;
}

const timed = (task: Task): Timed => ({ task, at: Date.parse(task.updated_at) });
const text = (a: string, b: string): number => (a < b ? 1 : a > b ? -1 : 0);
const newestFirst = (a: Timed, b: Timed): number =>
  b.at - a.at || text(a.task.created_at, b.task.created_at) || text(a.task.id, b.task.id);

/** All tasks, the newest first. `before` is what this gave the last time: only what changed since is sorted again. */
export function sortTasks(tasks: ReadonlyMap<string, Task>, before: readonly Task[] = []): readonly Task[] {
  const kept = before.filter((task) => tasks.get(task.id) === task);
  if (kept.length === before.length && kept.length === tasks.size) return before;
  const known = new Set(kept);
  const changed = [...tasks.values()].filter((task) => !known.has(task)).map(timed);
  changed.sort(newestFirst);
  if (kept.length === 0) return changed.map(({ task }) => task);
  const merged: Task[] = [];
  let next = 0;
  for (const task of kept) {
    // What changed is usually the newest of all: once it has its place, the rest is taken as it is.
    if (next < changed.length) {
      const here = timed(task);
      for (let each = changed[next]; each && newestFirst(each, here) < 0; each = changed[++next])
        merged.push(each.task);
    }
    merged.push(task);
  }
  for (const { task } of changed.slice(next)) merged.push(task);
  return merged;
}

function isSame(a: readonly Task[] | undefined, b: readonly Task[]): a is readonly Task[] {
  return a?.length === b.length && a.every((task, at) => task === b[at]);
}

/** `sorted` as the columns show it. */
export function groupTasks(
  sorted: readonly Task[],
  filter: Filter,
  moves: Moves,
  cards: Cards | undefined,
  before?: Columns,
): Columns {
  const empty = () => new Map<TaskStatus, Task[]>(COLUMNS.map(({ status }) => [status, []]));
  const [moved, pinned, groups] = [empty(), empty(), empty()];
  for (const task of sorted) {
    if (!matches(task, filter)) continue;
    const card = cards?.get(task.id);
    const [status, column] = [moves.get(task.id), columnOf(task, card)];
    if (status !== undefined && status !== task.status) moved.get(status)?.push(task);
    else (isWaiting(card) ? pinned : groups).get(column)?.push(task);
  }
  const columns = new Map<TaskStatus, readonly Task[]>();
  for (const [status, group] of groups) {
    // What was just moved will be the newest once the server has it; it stands there at once.
    const all = [...(moved.get(status) ?? []), ...(pinned.get(status) ?? []), ...group];
    const known = before?.get(status);
    columns.set(status, isSame(known, all) ? known : all);
  }
  return columns;
}
