import type { Diff } from "@forge/client";
import { expect, test } from "vitest";
import { foldedBecause, languageOf } from "./kind";

const diff = (change: Partial<Diff>): Diff => ({
  change: "modified",
  oldPath: null,
  newPath: null,
  oldContent: null,
  newContent: null,
  contentOmitted: true,
  additions: 1,
  deletions: 1,
  lockFile: false,
  ...change,
});

test("what nobody wrote by hand is folded", () => {
  for (const path of ["Cargo.lock", "web/package-lock.json"]) expect(foldedBecause(path, diff({}))).toBe("Lock file");
  for (const path of ["dist/a.js", "a/vendor/b.go", "lib.min.js", "x.snap", "api.pb.go"]) {
    expect(foldedBecause(path, diff({}))).toBe("Generated or vendored file");
  }
  expect(foldedBecause("odd.txt", diff({ lockFile: true }))).toBe("Lock file");
});

test("large changes and deleted files are folded, ordinary ones are not", () => {
  expect(foldedBecause("src/a.ts", diff({ additions: 300, deletions: 101 }))).toBe("Large change");
  expect(foldedBecause("src/a.ts", diff({ change: "deleted" }))).toBe("Deleted file");
  expect(foldedBecause("src/a.ts", diff({ additions: 300, deletions: 100 }))).toBeUndefined();
  expect(foldedBecause("src/distance.ts", diff({}))).toBeUndefined();
});

test("languages follow from the name", () => {
  expect(languageOf("src/a.test.tsx")).toBe("tsx");
  expect(languageOf("Dockerfile")).toBe("bash");
  expect(languageOf("LICENSE")).toBeUndefined();
});
