// @vitest-environment happy-dom

import type { Diff } from "@forge/client";
import { beforeEach, expect, test } from "vitest";
import { ViewedFiles } from "./viewed";

beforeEach(() => localStorage.clear());

const file = (additions: number, revision = 1) => ({
  path: "a.ts",
  diff: { change: "modified", additions, deletions: 0 } as Diff,
  revision,
});

test("a mark survives a reload, and goes when the figures change", () => {
  new ViewedFiles("v1").set(file(3), true);
  expect(new ViewedFiles("v1").has(file(3))).toBe(true);
  expect(new ViewedFiles("v1").has(file(4))).toBe(false);
});

test("other words with the same figures are unseen too", () => {
  const files = new ViewedFiles("v2");
  files.note(file(3), "p1");
  files.set(file(3), true);
  files.note(file(3, 2), "p2");
  expect(files.has(file(3, 2))).toBe(false);
  files.note(file(3, 3), "p1");
  expect(files.has(file(3, 3))).toBe(true);
});

test("readers are called when contents take a mark away", () => {
  const files = new ViewedFiles("v3");
  files.note(file(3), "p1");
  files.set(file(3), true);
  let calls = 0;
  files.subscribe(() => calls++);
  files.note(file(3, 2), "p2");
  expect(calls).toBe(1);
});
