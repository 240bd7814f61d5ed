import { parseDiff } from "react-diff-view";
import { expect, test } from "vitest";
import { markedEdits, wordEdits } from "./edits";

test("whole words are marked", () => {
  expect(wordEdits("  const v = value * 100;", "  const v = value * 101;")).toEqual({
    before: [[20, 3]],
    after: [[20, 3]],
  });
});

test("words that came or went are marked on their side only", () => {
  expect(wordEdits("total(items)", "total(items, tax)")).toEqual({ before: [], after: [[11, 5]] });
});

test("a line that was rewritten has no marks", () => {
  expect(
    wordEdits("  let sum = 0;", "  const sum = items.reduce((all, item) => all + item.price, 0);"),
  ).toBeUndefined();
  expect(wordEdits("", "x")).toBeUndefined();
});

test("removed lines are held against the added lines after them that are like them", () => {
  const body =
    "@@ -1,3 +1,3 @@\n-gone entirely\n-let a = oldName(1);\n+let a = newName(1);\n same\n+let a = third(1);\n";
  const patch = `diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n${body}`;
  expect(markedEdits(parseDiff(patch)[0]?.hunks ?? [])).toEqual({
    old: [{ type: "edit", lineNumber: 2, start: 8, length: 7 }],
    new: [{ type: "edit", lineNumber: 1, start: 8, length: 7 }],
  });
});
