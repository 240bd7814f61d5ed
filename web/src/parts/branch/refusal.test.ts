// @vitest-environment happy-dom

import { ForgeError } from "@forge/client";
import { expect, test } from "vitest";
import { refusalOf } from "./refusal";

const refused = (error_data: unknown, message: string | null = null) =>
  new ForgeError(200, message ?? "[200] OK", { success: false, data: null, error_data, message });

test("a rebase that stopped says where", () => {
  const data = { type: "merge_conflicts", message: "Rebase stopped at README.md", op: "rebase" };
  expect(refusalOf(refused(data))).toEqual({ text: "Rebase stopped at README.md", isConflict: true });
  expect(refusalOf(refused({ type: "rebase_in_progress" })).text).toContain("in progress");
});

test("words of GitHub's codes lead to the settings", () => {
  for (const code of ["TOKEN_INVALID", "INSUFFICIENT_PERMISSIONS", "REPO_NOT_FOUND_OR_NO_ACCESS"]) {
    expect(refusalOf(refused(code))).toMatchObject({ remedy: "github", text: expect.not.stringContaining("_") });
  }
});

test("other messages are the server's, without the names of its parts", () => {
  expect(refusalOf(refused(null, "Failed to push branch to GitHub: GitServiceError: no remote"))).toEqual({
    text: "Failed to push branch to GitHub: no remote",
  });
  expect(refusalOf(refused(null, "GitServiceError: Branches diverged: main has 2 commits")).remedy).toBe("rebase");
});
