import type { Diff } from "@forge/client";
import { expect, test } from "vitest";
import type { ChangedFile } from "../../live/diff";
import { bothSides, sumOf } from "./sides";

const file = (path: string, additions: number | null = 1): ChangedFile => ({
  path,
  revision: 1,
  diff: { change: "modified", additions, deletions: 2 } as Diff,
});

test("files that both changed come first, as one row", () => {
  const rows = bothSides([file("b.ts"), file("a10.ts")], [file("b.ts"), file("a2.ts")]);
  expect(rows.map(({ path, who }) => `${path} ${who}`)).toEqual(["b.ts both", "a2.ts b", "a10.ts a"]);
  expect(rows[0]?.a?.path).toBe(rows[0]?.b?.path);
});

test("sums count binary files as no lines", () => {
  expect(sumOf([file("a", 3), file("b", null)])).toEqual({ files: 2, additions: 3, deletions: 4 });
});
