// Changed files as a tree of folders, in the rows that are seen. Pure.
// Invariant: rows come in the order of the list beside it, folders with a single folder inside are one row.

import type { ChangedFile } from "../../../../live/diff";

export type Row =
  | { kind: "folder"; key: string; name: string; depth: number; open: boolean; files: number }
  | { kind: "file"; key: string; name: string; depth: number; file: ChangedFile };

interface Folder {
  folders: Map<string, Folder>;
  files: ChangedFile[];
}

const empty = (): Folder => ({ folders: new Map(), files: [] });

function plant(files: readonly ChangedFile[]): Folder {
  const root = empty();
  for (const file of files) {
    let folder = root;
    for (const name of file.path.split("/").slice(0, -1)) {
      const next = folder.folders.get(name) ?? empty();
      folder.folders.set(name, next);
      folder = next;
    }
    folder.files.push(file);
  }
  return root;
}

const size = (folder: Folder): number =>
  folder.files.length + [...folder.folders.values()].reduce((sum, each) => sum + size(each), 0);

function walk(folder: Folder, prefix: string, depth: number, closed: ReadonlySet<string>, rows: Row[]): void {
  for (const [first, child] of folder.folders) {
    let name = first;
    let inner = child;
    for (;;) {
      const [only, ...others] = inner.folders;
      if (inner.files.length > 0 || only === undefined || others.length > 0) break;
      name = `${name}/${only[0]}`;
      inner = only[1];
    }
    const key = `${prefix}${name}`;
    const open = !closed.has(key);
    rows.push({ kind: "folder", key, name, depth, open, files: size(inner) });
    if (open) walk(inner, `${key}/`, depth + 1, closed, rows);
  }
  for (const file of folder.files) {
    const name = file.path.slice(file.path.lastIndexOf("/") + 1);
    rows.push({ kind: "file", key: file.path, name, depth, file });
  }
}

export function treeRows(files: readonly ChangedFile[], closed: ReadonlySet<string>): Row[] {
  const rows: Row[] = [];
  walk(plant(files), "", 0, closed, rows);
  return rows;
}

/** Folders before files, at each level: the order in which the tree and the list beside it show them. */
export function inTreeOrder(files: readonly ChangedFile[]): ChangedFile[] {
  return treeRows(files, new Set()).flatMap((row) => (row.kind === "file" ? [row.file] : []));
}

/** Every word must be in the path. */
export function filterFiles(files: readonly ChangedFile[], typed: string): readonly ChangedFile[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return files;
  return files.filter(({ path }) => words.every((word) => path.toLowerCase().includes(word)));
}
