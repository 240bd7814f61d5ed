// Which words of a changed line changed. Pure.
// Invariant: only lines that are mostly the same are marked; where a line was rewritten, marks would be noise.

import type { ChangeData, HunkData, RangeTokenNode } from "react-diff-view";

const ALIKE = 0.5;
const MOST_WORDS = 200;
const MOST_LINES = 60;

const wordsOf = (line: string): string[] => line.match(/\w+|\s+|[^\w\s]/g) ?? [];
const lengthOf = (words: readonly string[]): number => words.reduce((sum, word) => sum + word.length, 0);

/** The indexes of the words that both lines have, in order (longest common subsequence). */
function common(a: readonly string[], b: readonly string[]): [number, number][] {
  const width = b.length + 1;
  const best = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number): number => best[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const same = a[i] === b[j] ? at(i + 1, j + 1) + (a[i]?.length ?? 0) : 0;
      best[i * width + j] = Math.max(same, at(i + 1, j), at(i, j + 1));
    }
  }
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j] && at(i, j) === at(i + 1, j + 1) + (a[i]?.length ?? 0)) pairs.push([i++, j++]);
    else if (at(i + 1, j) >= at(i, j + 1)) i++;
    else j++;
  }
  return pairs;
}

type Range = [start: number, length: number];

/** Stretches of words that are not in `kept`; neighbours are one stretch. */
function others(words: readonly string[], kept: ReadonlySet<number>): Range[] {
  const ranges: Range[] = [];
  let start = 0;
  for (const [index, word] of words.entries()) {
    const last = ranges.at(-1);
    if (!kept.has(index)) {
      if (last && last[0] + last[1] === start) last[1] += word.length;
      else ranges.push([start, word.length]);
    }
    start += word.length;
  }
  return ranges;
}

/** What differs between two lines; undefined when they have too little in common. */
export function wordEdits(before: string, after: string): { before: Range[]; after: Range[] } | undefined {
  const [a, b] = [wordsOf(before), wordsOf(after)];
  if (a.length > MOST_WORDS || b.length > MOST_WORDS) return undefined;
  const pairs = common(a, b);
  const isSpace = (index: number): boolean => /^\s/.test(a[index] ?? "");
  const shared = lengthOf(pairs.flatMap(([i]) => (isSpace(i) ? [] : [a[i] ?? ""])));
  const longer = Math.max(...[a, b].map((words) => lengthOf(words.filter((word) => !/^\s/.test(word)))));
  if (longer === 0 || shared / longer < ALIKE) return undefined;
  return { before: others(a, new Set(pairs.map(([i]) => i))), after: others(b, new Set(pairs.map(([, j]) => j))) };
}

/** Runs of removed lines, each with the added lines that follow it. */
function blocks(changes: readonly ChangeData[]): { removed: ChangeData[]; added: ChangeData[] }[] {
  const found: { removed: ChangeData[]; added: ChangeData[] }[] = [];
  let before: ChangeData | undefined;
  for (const change of changes) {
    if (change.type === "delete" && before?.type !== "delete") found.push({ removed: [], added: [] });
    const block = found.at(-1);
    if (change.type === "delete") block?.removed.push(change);
    else if (change.type === "insert" && before && before.type !== "normal") block?.added.push(change);
    before = change;
  }
  return found;
}

export function markedEdits(hunks: readonly HunkData[]): { old: RangeTokenNode[]; new: RangeTokenNode[] } {
  const marks = { old: [] as RangeTokenNode[], new: [] as RangeTokenNode[] };
  const mark = (side: "old" | "new", line: ChangeData, ranges: readonly Range[]): void => {
    if (line.type === "normal") return;
    for (const [start, length] of ranges)
      marks[side].push({ type: "edit", lineNumber: line.lineNumber, start, length });
  };
  for (const { removed, added } of hunks.flatMap((hunk) => blocks(hunk.changes))) {
    if (removed.length > MOST_LINES || added.length > MOST_LINES) continue;
    let next = 0;
    for (const line of removed) {
      // Lines keep their order: the first added line that is like it, after those that are taken.
      for (let at = next; at < added.length; at++) {
        const other = added[at];
        const edits = other && wordEdits(line.content, other.content);
        if (!edits) continue;
        mark("old", line, edits.before);
        mark("new", other, edits.after);
        next = at + 1;
        break;
      }
    }
  }
  return marks;
}
