// What an agent did, entry by entry, live: one channel for each process.
// Invariants: an entry that has not changed is the same row object, so that a list of rows renders only what is new; at
// most WINDOW + SLACK entries of a process are kept, the oldest are let go first and counted.

import type { EntryChange, NormalizedEntry, TodoItem } from "@forge/client";
import { forge } from "../api/forge";
import { Channel, channels } from "./channel";
import { paced } from "./pace";

export const WINDOW = 20_000;
const SLACK = 4_000;

export interface EntryRow {
  kind: "entry";
  key: string;
  processId: string;
  entry: NormalizedEntry;
}

export interface Entries {
  rows: readonly EntryRow[];
  /** How many of the oldest are not kept any more. */
  dropped: number;
  /** The newest list of things to do. */
  todos: readonly TodoItem[] | undefined;
}

export class EntryList {
  readonly #processId: string;
  #rows: EntryRow[] = [];
  #dropped = 0;
  #todos: { index: number; items: readonly TodoItem[] } | undefined;

  constructor(processId: string) {
    this.#processId = processId;
  }

  apply({ op, index, entry }: EntryChange): void {
    const at = index - this.#dropped;
    if (at < 0) return;
    if (op === "remove" || entry === null) {
      // Some agents take back what they said and start again.
      this.#rows.splice(at, 1);
      return;
    }
    this.#noteTodos(index, entry);
    const row: EntryRow = { kind: "entry", key: `${this.#processId}:${index}`, processId: this.#processId, entry };
    if (at < this.#rows.length) this.#rows[at] = row;
    else this.#rows.push(row);
    if (this.#rows.length > WINDOW + SLACK) {
      this.#dropped += this.#rows.length - WINDOW;
      this.#rows = this.#rows.slice(-WINDOW);
    }
  }

  take(): Entries {
    return { rows: this.#rows.slice(), dropped: this.#dropped, todos: this.#todos?.items };
  }

  #noteTodos(index: number, { entry_type: type }: NormalizedEntry): void {
    if (type.type !== "tool_use" || type.action_type.action !== "todo_management") return;
    const items = type.action_type.todos;
    if (items.length > 0 && index >= (this.#todos?.index ?? 0)) this.#todos = { index, items };
  }
}

export const entriesChannel = channels<Entries>((processId) => {
  let list = new EntryList(processId);
  return new Channel<Entries>(
    async (options, changed) => {
      // Opened again, a stream sends everything from its beginning.
      list = new EntryList(processId);
      const pace = paced(changed);
      try {
        for await (const change of forge.watchNormalizedLogs(processId, options)) {
          list.apply(change);
          pace.changed();
        }
      } finally {
        pace.stop();
      }
    },
    () => list.take(),
  );
});
