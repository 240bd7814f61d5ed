// Which lines of a file are chosen, by arrow keys or by a click; Shift makes a range.

import { useCallback, useMemo, useState } from "react";
import { type ChangeData, getChangeKey } from "react-diff-view";
import { lineOn, sideOf } from "../../../../parts/patch/patch";
import type { Comment } from "../comments/comments";

export interface Cursor {
  anchor: string;
  head: string;
}

export function useCursor(lines: readonly ChangeData[]) {
  const [cursor, setCursor] = useState<Cursor>();

  const choose = useCallback((line: ChangeData, extend: boolean): void => {
    const key = getChangeKey(line);
    setCursor((before) => ({ anchor: extend && before ? before.anchor : key, head: key }));
  }, []);

  /** Up or down by one line; from nowhere, to the first line that changed. */
  const move = useCallback(
    (step: 1 | -1, extend: boolean): ChangeData | undefined => {
      const from = cursor ? lines.findIndex((line) => getChangeKey(line) === cursor.head) : -1;
      const first = Math.max(
        0,
        lines.findIndex((line) => line.type !== "normal"),
      );
      const line = from < 0 ? lines[first] : lines[Math.min(lines.length - 1, Math.max(0, from + step))];
      if (line) choose(line, extend);
      return line;
    },
    [cursor, lines, choose],
  );

  const chosen = useMemo(() => chosenLines(lines, cursor), [lines, cursor]);
  return { choose, move, chosen };
}

/** The lines between the two ends, in order. */
export function chosenLines(lines: readonly ChangeData[], cursor: Cursor | undefined): ChangeData[] {
  if (cursor === undefined) return [];
  const ends = [cursor.anchor, cursor.head].map((key) => lines.findIndex((line) => getChangeKey(line) === key));
  if (ends.includes(-1)) return [];
  return lines.slice(Math.min(...ends), Math.max(...ends) + 1);
}

type CommentPlace = Pick<Comment, "path" | "side" | "start" | "end" | "quote">;

/** What a comment on these lines is about: the side of the last one decides. */
export function commentPlace(path: string, chosen: readonly ChangeData[]): CommentPlace | undefined {
  const last = chosen.at(-1);
  if (last === undefined) return undefined;
  const side = sideOf(last);
  const lines = chosen.filter((line) => lineOn(line, side) !== undefined);
  const numbers = lines.map((line) => lineOn(line, side) ?? 0);
  const quote = lines.map((line) => line.content).join("\n");
  return { path, side, start: numbers[0] ?? 0, end: numbers.at(-1) ?? 0, quote };
}
