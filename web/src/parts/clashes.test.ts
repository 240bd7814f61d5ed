import { expect, test } from "vitest";
import { clashesOf, filesText } from "./clashes";

test("only what stands against the target is a conflict; neighbours overlap", () => {
  const clashes = clashesOf({
    target: [{ attempt_id: "a", branch: "forge/a", target_branch: "main", files: ["x"] }],
    pairs: [
      { attempts: ["a", "b"], branches: ["forge/a", "forge/b"], files: ["1"] },
      { attempts: ["c", "b"], branches: ["forge/c", "forge/b"], files: ["2"] },
    ],
    checked_at: "",
    checked: 3,
    skipped: 0,
  });
  expect(clashes.get("a")?.target).toBe("Conflicts with main: x");
  expect(clashes.get("b")).toEqual({
    overlaps: [
      { attemptId: "a", branch: "forge/a", files: ["1"] },
      { attemptId: "c", branch: "forge/c", files: ["2"] },
    ],
  });
  expect(clashesOf(undefined).size).toBe(0);
});

test("of many files the first three are named", () => {
  expect(filesText(["1", "2", "3"])).toBe("1, 2, 3");
  expect(filesText(["1", "2", "3", "4", "5"])).toBe("1, 2, 3 and 2 more");
});
