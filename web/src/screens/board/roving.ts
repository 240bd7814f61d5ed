// Which card the keyboard goes to from where it is.

import type { BoardTask as Task } from "../../live/tasks";

export type Direction = "up" | "down" | "left" | "right";
type Lists = readonly (readonly Task[])[];

/** Where a card is: its column and its place there. */
export function placeOf(lists: Lists, id: string | undefined): [column: number, row: number] | undefined {
  if (id === undefined) return undefined;
  for (const [column, tasks] of lists.entries()) {
    const row = tasks.findIndex((task) => task.id === id);
    if (row >= 0) return [column, row];
  }
  return undefined;
}

/** The first card in reading order. */
export function firstOf(lists: Lists): string | undefined {
  return lists.find((tasks) => tasks.length > 0)?.[0]?.id;
}

/** Sideways goes past empty columns and keeps the row; at an edge one stays. */
export function neighbour(lists: Lists, id: string | undefined, direction: Direction): string | undefined {
  const place = placeOf(lists, id);
  if (place === undefined) return firstOf(lists);
  const [column, row] = place;
  if (direction === "up" || direction === "down") {
    return lists[column]?.[row + (direction === "up" ? -1 : 1)]?.id ?? id;
  }
  const step = direction === "left" ? -1 : 1;
  for (let next = column + step; next >= 0 && next < lists.length; next += step) {
    const tasks = lists[next] ?? [];
    if (tasks.length > 0) return tasks[Math.min(row, tasks.length - 1)]?.id;
  }
  return id;
}
