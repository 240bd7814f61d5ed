// The parts of a patch, file by file. Pure.
// Invariant: lines of a patch's body never begin with `diff --git`, which is enough to distinguish its files.

import type { AttemptDiff } from "@forge/client";

/** The text of each file of a patch, in order. */
export function splitPatch(patch: string): string[] {
  return patch.split(/^(?=diff --git )/m).filter((part) => part.startsWith("diff --git "));
}

/** The part that belongs to `path`. Names in a patch are quoted in odd ways; the list of files says which part is whose. */
export function partOf(answer: Pick<AttemptDiff, "files" | "diff">, path: string): string {
  const parts = splitPatch(answer.diff);
  const at = answer.files.findIndex((file) => file.path === path);
  return parts[at] ?? "";
}
