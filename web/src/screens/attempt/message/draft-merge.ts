// Text that is typed in two places at once. Invariant: nothing that was typed in either is lost.

import { readDraft, restoreForm, writeDraft } from "../../../kept/draft";

/** `base` is what both began with. */
export function mergeText(base: string, mine: string, theirs: string): string {
  if (mine === base || mine === theirs) return theirs;
  if (theirs === base || theirs.trim() === "" || mine.includes(theirs)) return mine;
  if (mine.trim() === "" || theirs.includes(mine)) return theirs;
  return `${theirs}\n\n${mine}`;
}

/** What a browser keeps of a draft until the server has it. */
export interface Kept {
  text: string;
  base: string;
}

const placeOf = (attemptId: string): string => `attempt.${attemptId}`;
const NOTHING: Kept = { text: "", base: "" };

export const readKept = (attemptId: string): Kept => restoreForm(NOTHING, readDraft(placeOf(attemptId)));

export function keep(attemptId: string, { text, base }: Kept): void {
  writeDraft(placeOf(attemptId), text === base ? null : { text, base });
}
