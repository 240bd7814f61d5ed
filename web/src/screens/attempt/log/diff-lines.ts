// A unified diff as lines to show. Agents send small diffs of what they edit; some have no line numbers.

export interface DiffLine {
  kind: "same" | "added" | "removed" | "gap";
  text: string;
  number?: number;
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/;

export function diffLines(diff: string, hasNumbers: boolean): DiffLine[] {
  const lines: DiffLine[] = [];
  let before = 0;
  let after = 0;
  let inHunk = false;
  const all = diff.split("\n");
  if (all.at(-1) === "") all.pop();
  for (const line of all) {
    const hunk = HUNK.exec(line);
    if (hunk || line.startsWith("@@")) {
      if (inHunk) lines.push({ kind: "gap", text: hunk?.[3] ?? "" });
      inHunk = true;
      before = Number(hunk?.[1] ?? 1);
      after = Number(hunk?.[2] ?? 1);
      continue;
    }
    if (!inHunk || line.startsWith("\\")) continue;
    const text = line.slice(1);
    if (line.startsWith("+")) lines.push({ kind: "added", text, number: after++ });
    else if (line.startsWith("-")) lines.push({ kind: "removed", text, number: before++ });
    else {
      lines.push({ kind: "same", text, number: after++ });
      before++;
    }
  }
  if (!hasNumbers) for (const line of lines) delete line.number;
  return lines;
}

/** A new file: everything is added. */
export function writtenLines(content: string): DiffLine[] {
  const all = content.split("\n");
  if (all.at(-1) === "") all.pop();
  return all.map((text, at) => ({ kind: "added", text, number: at + 1 }));
}

export function diffCounts(diff: string): { added: number; removed: number } {
  const lines = diffLines(diff, false);
  const count = (kind: DiffLine["kind"]): number => lines.filter((line) => line.kind === kind).length;
  return { added: count("added"), removed: count("removed") };
}
