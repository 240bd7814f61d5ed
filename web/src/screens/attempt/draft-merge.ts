// Text that is typed in two places at once. Invariant: nothing that was typed in either is lost.

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

const keyOf = (attemptId: string): string => `forge.draft.attempt.${attemptId}`;

export function readKept(attemptId: string): Kept {
  const stored = localStorage.getItem(keyOf(attemptId));
  if (stored === null) return { text: "", base: "" };
  try {
    const { text, base }: Partial<Kept> = JSON.parse(stored);
    return { text: String(text ?? ""), base: String(base ?? "") };
  } catch {
    return { text: stored, base: "" };
  }
}

export function keep(attemptId: string, kept: Kept): void {
  if (kept.text === kept.base) localStorage.removeItem(keyOf(attemptId));
  else localStorage.setItem(keyOf(attemptId), JSON.stringify(kept));
}
