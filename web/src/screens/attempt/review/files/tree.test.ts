import type { Diff } from "@forge/client";
import { expect, test } from "vitest";
import type { ChangedFile } from "../../../../live/diff";
import { filterFiles, inTreeOrder, treeRows } from "./tree";

const diff = { change: "modified", additions: 1, deletions: 0 } as Diff;
const files = (...paths: string[]): ChangedFile[] => paths.map((path) => ({ path, diff, revision: 1 }));
const show = (given: ChangedFile[], closed: string[] = []): string[] =>
  treeRows(given, new Set(closed)).map((row) => `${"  ".repeat(row.depth)}${row.name}`);

test("folders come first, and chains of folders are one row", () => {
  expect(show(files("a.md", "src/deep/er/x.ts", "src/deep/er/y.ts", "web/z.ts"))).toEqual([
    "src/deep/er",
    "  x.ts",
    "  y.ts",
    "web",
    "  z.ts",
    "a.md",
  ]);
});

test("a closed folder keeps its files to itself and counts them", () => {
  const rows = treeRows(files("src/a/x.ts", "src/a/y.ts", "src/b.ts"), new Set(["src/a"]));
  expect(rows.map((row) => row.key)).toEqual(["src", "src/a", "src/b.ts"]);
  expect(rows[1]).toMatchObject({ kind: "folder", files: 2, open: false });
});

test("the list has the order of the tree", () => {
  expect(inTreeOrder(files("a.md", "src/x.ts")).map((file) => file.path)).toEqual(["src/x.ts", "a.md"]);
});

test("a filter needs every word", () => {
  expect(filterFiles(files("src/cart.ts", "src/greet.py"), "SRC cart").map((file) => file.path)).toEqual([
    "src/cart.ts",
  ]);
});
