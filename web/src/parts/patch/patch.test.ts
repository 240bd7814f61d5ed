import { type HunkData, parseDiff } from "react-diff-view";
import { expect, test } from "vitest";
import { partOf, splitPatch } from "../../api/patch-files";
import { fingerprint, firstLines, gapBefore, isBinary, lineOn, modeChange, widen } from "./patch";

const A = `diff --git a/a b.txt b/a b.txt
index 1..2 100644
--- a/a b.txt
+++ b/a b.txt
@@ -10,3 +10,3 @@
 one
-diff --git is no header here
+two
 three
`;
const B = `diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
`;
const C = `diff --git a/logo.png b/logo.png
index 1..2 100644
Binary files a/logo.png and b/logo.png differ
`;

const file = (path: string) => ({ path, old_path: null, change: "modified" as const, additions: 1, deletions: 1 });

test("a patch is cut at its files only", () => {
  expect(splitPatch(A + B + C)).toEqual([A, B, C]);
});

test("a file is found by its place in the list, whatever its name looks like in the patch", () => {
  const answer = { files: [file("a b.txt"), file("run.sh"), file("logo.png")], diff: A + B + C };
  expect(partOf(answer, "run.sh")).toBe(B);
  expect(partOf(answer, "logo.png")).toBe(C);
  expect(partOf(answer, "gone")).toBe("");
});

test("what is not text is recognised", () => {
  expect(isBinary(C)).toBe(true);
  expect(isBinary(A)).toBe(false);
  expect(modeChange(B)).toEqual({ from: "100644", to: "100755" });
  expect(modeChange(A)).toBeUndefined();
});

const hunks = (): HunkData[] => parseDiff(A)[0]?.hunks ?? [];

test("lines have numbers on the sides where they are", () => {
  const [one, gone, two] = hunks()[0]?.changes ?? [];
  if (!one || !gone || !two) throw new Error("three lines");
  expect([lineOn(one, "old"), lineOn(one, "new")]).toEqual([10, 10]);
  expect([lineOn(gone, "old"), lineOn(gone, "new")]).toEqual([11, undefined]);
  expect([lineOn(two, "old"), lineOn(two, "new")]).toEqual([undefined, 11]);
});

test("no more lines than the limit are shown, and the rest is counted", () => {
  const { hunks: shown, left } = firstLines(hunks(), 3);
  expect(shown[0]?.changes).toHaveLength(3);
  expect(left).toBe(1);
  expect(firstLines(hunks(), 4)).toEqual({ hunks: hunks(), left: 0 });
});

test("gaps are what lies between hunks", () => {
  expect(gapBefore(hunks(), 0, undefined)).toEqual({ start: 1, end: 10 });
  expect(gapBefore(hunks(), 1, undefined)).toEqual({ start: 13, end: undefined });
  expect(gapBefore(hunks(), 1, 12)).toBeUndefined();
});

test("a gap is opened beside the hunk", () => {
  expect(widen({ start: 1, end: 100 }, 20, true)).toEqual([80, 100]);
  expect(widen({ start: 1, end: 10 }, 20, true)).toEqual([1, 10]);
  expect(widen({ start: 50, end: undefined }, 20, false)).toEqual([50, 70]);
});

test("fingerprints follow the text", () => {
  expect(fingerprint(A)).toBe(fingerprint(A));
  expect(fingerprint(A)).not.toBe(fingerprint(A.replace("two", "too")));
});
