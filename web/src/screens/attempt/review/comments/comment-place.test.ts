import { type HunkData, parseDiff } from "react-diff-view";
import { expect, test } from "vitest";
import { placeComment } from "./comment-place";
import type { Comment } from "./comments";

const hunks = (start: number, ...lines: string[]): HunkData[] => {
  const head = `diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -${start},9 +${start},9 @@\n`;
  return parseDiff(`${head}${lines.join("\n")}\n`)[0]?.hunks ?? [];
};
const comment = (given: Partial<Comment>): Comment => ({
  id: "1",
  path: "x",
  side: "new",
  start: 11,
  end: 11,
  quote: "b",
  text: "t",
  draft: null,
  ...given,
});

test("a comment is under its line", () => {
  expect(placeComment(comment({}), hunks(10, " a", "+b", " c"))).toEqual({
    state: "here",
    key: "I11",
    start: 11,
    end: 11,
  });
});

test("it follows its line when lines above it come or go", () => {
  expect(placeComment(comment({}), hunks(10, " a", "+x", "+y", "+b"))).toMatchObject({ state: "here", end: 13 });
});

test("of several equal lines the nearest counts", () => {
  expect(placeComment(comment({ start: 12, end: 12 }), hunks(10, "+b", " a", "+b"))).toMatchObject({ end: 12 });
});

test("a line with other words makes it outdated", () => {
  expect(placeComment(comment({}), hunks(10, " a", "+changed"))).toEqual({ state: "outdated" });
  expect(placeComment(comment({}), [])).toEqual({ state: "outdated" });
});

test("a line that is not shown only hides it", () => {
  expect(placeComment(comment({ start: 50, end: 50 }), hunks(10, " a", "+c"))).toEqual({ state: "hidden" });
});

test("removed lines are found on the old side, ranges by all their lines", () => {
  expect(placeComment(comment({ side: "old", quote: "gone" }), hunks(10, " a", "-gone", "+b"))).toMatchObject({
    key: "D11",
  });
  expect(placeComment(comment({ start: 10, quote: "a\nb" }), hunks(10, " a", "-old", "+b"))).toMatchObject({
    start: 10,
    end: 11,
  });
});
