// What this browser keeps.
// Invariant: this is the only door to its storage (`public/theme.js` reads the theme before the page is there). A storage
// that is full, forbidden or holds something broken stops nobody: what cannot be read was not kept, what cannot be
// written is not kept.

/** All there is, each below `forge.`. */
export type Key =
  | "theme"
  | "project"
  | "raw.wrap"
  | "diff.view"
  | `agent.${string}`
  | `viewed.${string}`
  | `draft.${string}`;

const nameOf = (key: Key): string => `forge.${key}`;

/** A word as it was written. */
export function keptWord(key: Key): string | undefined {
  try {
    return localStorage.getItem(nameOf(key)) ?? undefined;
  } catch {
    return undefined;
  }
}

export function keepWord(key: Key, word: string | undefined): void {
  try {
    if (word === undefined) localStorage.removeItem(nameOf(key));
    else localStorage.setItem(nameOf(key), word);
  } catch {
    // The page goes on without.
  }
}

/** Anything else; null when there is nothing. Whoever reads it must expect what an older page wrote. */
export function kept(key: Key): unknown {
  try {
    return JSON.parse(keptWord(key) ?? "null");
  } catch {
    return null;
  }
}

export const keep = (key: Key, value: unknown): void =>
  keepWord(key, value === null || value === undefined ? undefined : JSON.stringify(value));
