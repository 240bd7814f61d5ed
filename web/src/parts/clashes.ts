// What stands in the way of attempts, from the server's report: conflicts with the target, and others that overlap.

import type { ConflictReport } from "@forge/client";

/** Another attempt that changes the same lines. */
export interface Overlap {
  attemptId: string;
  branch: string;
  files: readonly string[];
}

/** What stands between an attempt and its target, and which others it may meet on the way. */
export interface Clash {
  /** Of conflicts with the target: the whole sentence. */
  target?: string;
  overlaps: readonly Overlap[];
}

/** By attempt. */
export type Clashes = ReadonlyMap<string, Clash>;

export function clashesOf(report: ConflictReport | undefined): Clashes {
  const clashes = new Map<string, { target?: string; overlaps: Overlap[] }>();
  const of = (attempt: string) => {
    const known = clashes.get(attempt) ?? { overlaps: [] };
    clashes.set(attempt, known);
    return known;
  };
  for (const { attempts, branches, files } of report?.pairs ?? []) {
    const [[a = "", b = ""], [first = "", second = ""]] = [attempts, branches];
    of(a).overlaps.push({ attemptId: b, branch: second, files });
    of(b).overlaps.push({ attemptId: a, branch: first, files });
  }
  for (const { attempt_id, target_branch, files } of report?.target ?? []) {
    of(attempt_id).target = `Conflicts with ${target_branch}: ${filesText(files)}`;
  }
  return clashes;
}

const MOST_FILES = 3;

export function filesText(files: readonly string[]): string {
  const more = files.length - MOST_FILES;
  return files.slice(0, MOST_FILES).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
