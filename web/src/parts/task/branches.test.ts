import { expect, test } from "vitest";
import { baseBranch, branchGroups } from "./branches";

const branch = (name: string, day: number, more = {}) => ({
  name,
  is_current: false,
  is_remote: false,
  last_commit_date: `2026-01-0${day}T00:00:00.000Z`,
  ...more,
});

const ALL = [
  branch("old", 1),
  branch("forge/1b3d-x", 9),
  branch("origin/main", 8, { is_remote: true }),
  branch("new", 5),
  branch("main", 2, { is_current: true }),
  branch("dev", 1),
];

test("branches stand where they are looked for", () => {
  const groups = branchGroups(ALL, "forge", "dev").map(({ branches }) => branches.map(({ name }) => name));
  expect(groups).toEqual([["dev", "main", "new", "old"], ["forge/1b3d-x"], ["origin/main"]]);
});

test("work starts from the project's branch, else from the one that is checked out", () => {
  expect(baseBranch(ALL, "dev")).toBe("dev");
  expect(baseBranch(ALL, null)).toBe("main");
  expect(baseBranch([], null)).toBeNull();
});
