import { type ChangeData, parseDiff } from "react-diff-view";
import { expect, test } from "vitest";
import { chosenLines, commentPlace } from "./line-cursor";

const PATCH = `diff --git a/x b/x
index 1..2 100644
--- a/x
+++ b/x
@@ -1,4 +1,4 @@
 a
-b
+B
 c
`;
const lines: ChangeData[] = parseDiff(PATCH)[0]?.hunks[0]?.changes ?? [];

test("a range is the lines between its ends, whichever was chosen first", () => {
  const contents = (anchor: string, head: string) => chosenLines(lines, { anchor, head }).map((line) => line.content);
  expect(contents("N1", "I2")).toEqual(["a", "b", "B"]);
  expect(contents("I2", "N1")).toEqual(["a", "b", "B"]);
  expect(contents("N1", "gone")).toEqual([]);
});

test("a comment is about the side of its last line, and quotes only that side", () => {
  const upTo = (head: string) => commentPlace("x", chosenLines(lines, { anchor: "N1", head }));
  expect(upTo("I2")).toEqual({ path: "x", side: "new", start: 1, end: 2, quote: "a\nB" });
  expect(upTo("D2")).toEqual({ path: "x", side: "old", start: 1, end: 2, quote: "a\nb" });
  expect(commentPlace("x", [])).toBeUndefined();
});
