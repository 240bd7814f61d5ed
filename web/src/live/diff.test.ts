// @vitest-environment happy-dom

import type { Diff } from "@forge/client";
import { expect, test } from "vitest";
import { type ChangedFile, sumOf } from "./diff";

const file = (path: string, additions: number | null): ChangedFile => ({
  path,
  revision: 1,
  diff: { change: "modified", additions, deletions: 2 } as Diff,
});

test("sums count binary files as no lines", () => {
  expect(sumOf([file("a", 3), file("b", null)])).toEqual({ files: 2, additions: 3, deletions: 4 });
});
