// Tasks sorted into columns, the newest first.
// Invariants: a column in which nothing changed is the same array as before, so that it is not drawn again; tasks that
// were changed at the same moment always stand in the same order.

import type { TaskWithAttemptStatus as Task, TaskStatus } from "@forge/client";
import { COLUMNS } from "../../parts/status";
import { type Filter, matches } from "./filter";

export type Columns = ReadonlyMap<TaskStatus, readonly Task[]>;
/** Where tasks were put by this page, before the server has said so. */
export type Moves = ReadonlyMap<string, TaskStatus>;

// Times are in one format of fixed width; comparing them as text is comparing them, and much faster than by locale.
const order = (a: string, b: string): number => (a < b ? 1 : a > b ? -1 : 0);
const newestFirst = (a: Task, b: Task): number =>
  order(a.updated_at, b.updated_at) || order(a.created_at, b.created_at) || order(a.id, b.id);

function isSame(a: readonly Task[] | undefined, b: readonly Task[]): a is readonly Task[] {
  return a?.length === b.length && a.every((task, at) => task === b[at]);
}

export function groupTasks(tasks: Iterable<Task>, filter: Filter, moves: Moves, before?: Columns): Columns {
  const groups = new Map<TaskStatus, Task[]>(COLUMNS.map(({ status }) => [status, []]));
  const moved = new Map<TaskStatus, Task[]>();
  for (const task of tasks) {
    if (!matches(task, filter)) continue;
    const status = moves.get(task.id);
    if (status === undefined || status === task.status) groups.get(task.status)?.push(task);
    else moved.set(status, [...(moved.get(status) ?? []), task]);
  }
  const columns = new Map<TaskStatus, readonly Task[]>();
  for (const [status, group] of groups) {
    // What was just moved will be the newest once the server has it; it stands there at once.
    const sorted = [...(moved.get(status) ?? []), ...group.sort(newestFirst)];
    const known = before?.get(status);
    columns.set(status, isSame(known, sorted) ? known : sorted);
  }
  return columns;
}
