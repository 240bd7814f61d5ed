// Where a comment belongs in the lines as they are now. Pure.
// Invariant: a comment is never dropped: a line that is gone makes it outdated, a line that is not shown makes it hidden.

import { type ChangeData, getChangeKey, type HunkData } from "react-diff-view";
import { lineOn, linesOf } from "../../../../parts/patch/patch";
import type { Comment } from "./comments";

export type Place =
  /** Under the line with this key; `end` is where that line is now. */
  | { state: "here"; key: string; start: number; end: number }
  /** Its lines are between hunks. */
  | { state: "hidden" }
  | { state: "outdated" };

export function placeComment(comment: Comment, hunks: readonly HunkData[]): Place {
  const { side } = comment;
  const lines = linesOf(hunks).filter((line) => lineOn(line, side) !== undefined);
  const quoted = comment.quote.split("\n");
  const matches = (at: number): boolean => quoted.every((text, offset) => lines[at + offset]?.content === text);
  const numberAt = (at: number): number => lineOn(lines[at] as ChangeData, side) ?? 0;
  // Lines above may have come or gone: the same words nearest to the old place are the same lines.
  let best: number | undefined;
  for (let at = 0; at < lines.length; at++) {
    if (!matches(at)) continue;
    const distance = Math.abs(numberAt(at) - comment.start);
    if (best === undefined || distance < Math.abs(numberAt(best) - comment.start)) best = at;
  }
  if (best !== undefined) {
    const last = lines[best + quoted.length - 1] as ChangeData;
    return { state: "here", key: getChangeKey(last), start: numberAt(best), end: lineOn(last, side) ?? 0 };
  }
  const isShown = lines.some((line) => lineOn(line, side) === comment.end);
  return { state: isShown || hunks.length === 0 ? "outdated" : "hidden" };
}
