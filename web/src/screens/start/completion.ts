// A path as it is typed: what it could go on to be, and which repositories it could mean.

import type { DirectoryEntry } from "@forge/client";

/** `~` is the home folder, as in a shell. */
export function expand(typed: string, home: string | undefined): string {
  if (home === undefined || !/^~(\/|$)/.test(typed)) return typed;
  return home + typed.slice(1);
}

export const isPath = (typed: string): boolean => /^[/~]/.test(typed) || /^[a-z]:[\\/]/i.test(typed);

/** The folder that is written out, and the start of a name in it. */
export function splitPath(path: string): { folder: string; start: string } {
  const cut = Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1;
  return { folder: path.slice(0, cut), start: path.slice(cut) };
}

const MOST = 50;

/** Folders that begin so; hidden ones only for those who ask for them. Repositories come first. */
export function completions(entries: readonly DirectoryEntry[], start: string): readonly DirectoryEntry[] {
  const wanted = start.toLowerCase();
  return entries
    .filter(({ is_directory, name }) => is_directory && name.toLowerCase().startsWith(wanted))
    .filter(({ name }) => !name.startsWith(".") || start.startsWith("."))
    .sort((a, b) => Number(b.is_git_repo) - Number(a.is_git_repo) || a.name.localeCompare(b.name))
    .slice(0, MOST);
}

/** As far as all of them agree, as a shell completes it. */
export function commonStart(names: readonly string[]): string {
  const [first = "", ...rest] = names;
  let length = first.length;
  for (const name of rest) {
    while (!name.toLowerCase().startsWith(first.slice(0, length).toLowerCase())) length -= 1;
  }
  return first.slice(0, length);
}

/** What the folder is called. */
export function nameOf(path: string): string {
  return path.split(/[/\\]/).filter(Boolean).at(-1) ?? "";
}

/** Found repositories that what is typed could mean: below the path, or with the words in it. */
export function meant(repositories: readonly DirectoryEntry[], path: string): readonly DirectoryEntry[] {
  const typed = path.trim().toLowerCase();
  if (isPath(typed)) return repositories.filter((entry) => entry.path.toLowerCase().startsWith(typed));
  const words = typed.split(/\s+/).filter(Boolean);
  return repositories.filter((entry) => words.every((word) => entry.path.toLowerCase().includes(word)));
}

/** Without the slash at the end, as the server sends paths. */
export const bare = (path: string): string => (path.length > 1 ? path.replace(/[/\\]+$/, "") : path);
