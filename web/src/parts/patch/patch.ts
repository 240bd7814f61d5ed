// One file's part of a patch, as hunks and lines. Pure.

import type { ChangeData, HunkData } from "react-diff-view";

export type Side = "old" | "new";

export function isBinary(part: string): boolean {
  return /^(Binary files |GIT binary patch)/m.test(part);
}

/** `100644` to `100755`, when only that or also that changed. */
export function modeChange(part: string): { from: string; to: string } | undefined {
  const from = /^old mode (\d+)$/m.exec(part)?.[1];
  const to = /^new mode (\d+)$/m.exec(part)?.[1];
  return from && to ? { from, to } : undefined;
}

/** Short, and different for different texts as good as always (FNV-1a). */
export function fingerprint(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(36);
}

/** The number of a line on one side; undefined when the line is not there. */
export function lineOn(change: ChangeData, side: Side): number | undefined {
  if (change.type === "normal") return side === "old" ? change.oldLineNumber : change.newLineNumber;
  return (change.type === "delete") === (side === "old") ? change.lineNumber : undefined;
}

/** The side on which a line is talked about: what was taken away is on the old one. */
export const sideOf = (change: ChangeData): Side => (change.type === "delete" ? "old" : "new");

export function linesOf(hunks: readonly HunkData[]): ChangeData[] {
  return hunks.flatMap((hunk) => hunk.changes);
}

/** At most `limit` lines, and how many were left out. A hunk is cut where the limit falls. */
export function firstLines(hunks: readonly HunkData[], limit: number): { hunks: HunkData[]; left: number } {
  const shown: HunkData[] = [];
  let left = 0;
  let room = limit;
  for (const hunk of hunks) {
    const changes = hunk.changes.slice(0, room);
    left += hunk.changes.length - changes.length;
    room -= changes.length;
    if (changes.length === hunk.changes.length) shown.push(hunk);
    else if (changes.length > 0) shown.push({ ...hunk, changes });
  }
  return { hunks: shown, left };
}

export interface Gap {
  /** Lines of the old file, `end` excluded; undefined when nobody knows yet where the file ends. */
  start: number;
  end: number | undefined;
}

/** What is not shown before a hunk, or after the last one (`index` = number of hunks). */
export function gapBefore(hunks: readonly HunkData[], index: number, oldLines: number | undefined): Gap | undefined {
  const before = hunks[index - 1];
  const after = hunks[index];
  const start = before ? before.oldStart + before.oldLines : 1;
  const end = after ? after.oldStart : oldLines === undefined ? undefined : oldLines + 1;
  return end !== undefined && end <= start ? undefined : { start, end };
}

/** The next `step` lines of a gap: from below when it is above a hunk, so that what is read stays together. */
export function widen(gap: Gap, step: number, upwards: boolean): [start: number, end: number] {
  if (gap.end === undefined) return [gap.start, gap.start + step];
  return upwards ? [Math.max(gap.start, gap.end - step), gap.end] : [gap.start, Math.min(gap.end, gap.start + step)];
}
