// Finding words in a log that grows. Invariant: a line is looked at once for each question, the last one again, because
// it may not have been whole.

import type { Line } from "../../../live/raw-log";
import { plain } from "../ansi";

export class Search {
  #query = "";
  #first = 0;
  #until = 0;
  #found: number[] = [];

  /** The numbers of the lines that contain `query`, in any case. */
  find(lines: readonly Line[], query: string): readonly number[] {
    const wanted = query.toLowerCase();
    const first = lines[0]?.number ?? 1;
    if (wanted !== this.#query || first < this.#first) {
      this.#found = [];
      this.#until = 0;
    } else if (first > this.#first) {
      this.#found = this.#found.filter((number) => number >= first);
    }
    this.#query = wanted;
    this.#first = first;
    if (wanted === "") return [];
    const last = lines.at(-1)?.number ?? 0;
    if (this.#until > last) this.#until = 0;
    const from = Math.max(first, this.#until);
    const next = this.#found.filter((number) => number < from);
    for (let at = from - first; at < lines.length; at++) {
      const line = lines[at];
      if (line && plain(line.text).toLowerCase().includes(wanted)) next.push(line.number);
    }
    this.#until = last;
    // The same list as before, when nothing new was found, spares a rendering.
    if (next.length !== this.#found.length || next.at(-1) !== this.#found.at(-1)) this.#found = next;
    return this.#found;
  }
}

/** The parts of a text: what matches is at the odd places. */
export function splitMatches(text: string, query: string): string[] {
  if (query === "") return [text];
  const parts: string[] = [];
  const low = text.toLowerCase();
  const wanted = query.toLowerCase();
  let at = 0;
  for (let next = low.indexOf(wanted); next >= 0; next = low.indexOf(wanted, at)) {
    parts.push(text.slice(at, next), text.slice(next, next + wanted.length));
    at = next + wanted.length;
  }
  parts.push(text.slice(at));
  return parts;
}

/** The match after, or before, line `from`; round and round. */
export function step(found: readonly number[], from: number, way: 1 | -1): number | undefined {
  if (way > 0) return found.find((number) => number > from) ?? found[0];
  return found.findLast((number) => number < from) ?? found.at(-1);
}
