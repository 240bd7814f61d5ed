// What the board's address asks for, and whether a task answers it.
// Invariant: a filter read from an address and written back is the same address.

import type { BoardTask as Task } from "../../live/tasks";
import { COLUMNS } from "../../parts/status";
import type { BoardSearch } from "../../routes";

export interface Filter {
  /** Lower case; a task has to contain all of them. */
  words: readonly string[];
  agents: ReadonlySet<string>;
  labels: ReadonlySet<string>;
  statuses: ReadonlySet<string>;
  /** In lower case, by task, once they are here. */
  descriptions?: ReadonlyMap<string, string> | undefined;
}

/** The parts of a filter that are lists in the address. */
export type Facet = "agent" | "label" | "status";

const list = (joined: string | undefined): string[] => joined?.split(",").filter(Boolean) ?? [];

export function readFilter({ q, agent, label, status }: BoardSearch): Filter {
  return {
    words: q?.toLowerCase().split(/\s+/).filter(Boolean) ?? [],
    agents: new Set(list(agent)),
    labels: new Set(list(label)),
    statuses: new Set(list(status)),
  };
}

export function isFiltered({ q, agent, label, status }: BoardSearch): boolean {
  return Boolean(q || agent || label || status);
}

/** The list with `value` in it or out of it, as the address writes it. */
export function withChoice(joined: string | undefined, value: string, chosen: boolean): string | undefined {
  const rest = list(joined).filter((each) => each !== value);
  return (chosen ? [...rest, value] : rest).join(",") || undefined;
}

export function choices(joined: string | undefined): ReadonlySet<string> {
  return new Set(list(joined));
}

/** The columns to show; a filter that names none of them shows all. */
export function shownColumns({ statuses }: Filter): readonly (typeof COLUMNS)[number][] {
  const shown = COLUMNS.filter((column) => statuses.has(column.status));
  return shown.length > 0 ? shown : COLUMNS;
}

/** Tasks are replaced whole when they change, so their titles can be kept beside them. */
const titles = new WeakMap<Task, string>();

function titleOf(task: Task): string {
  const known = titles.get(task);
  if (known !== undefined) return known;
  const title = task.title.toLowerCase();
  titles.set(task, title);
  return title;
}

/** The column is no concern of this: a task keeps matching while it is moved. */
export function matches(task: Task, { words, agents, labels, descriptions }: Filter): boolean {
  if (agents.size > 0 && !agents.has(task.executor)) return false;
  if (labels.size > 0 && !task.labels?.some((label) => labels.has(label))) return false;
  if (words.length === 0) return true;
  const [title, description] = [titleOf(task), descriptions?.get(task.id)];
  return words.every((word) => title.includes(word) || description?.includes(word));
}

export interface Facets {
  agents: readonly string[];
  labels: readonly string[];
}

/** What there is to choose from. */
export function facetsOf(tasks: Iterable<Task>): Facets {
  const agents = new Set<string>();
  const labels = new Set<string>();
  for (const task of tasks) {
    if (task.executor) agents.add(task.executor);
    for (const label of task.labels ?? []) labels.add(label);
  }
  return { agents: [...agents].sort(), labels: [...labels].sort() };
}
