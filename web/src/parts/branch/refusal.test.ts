// @vitest-environment happy-dom

import { type ErrorCode, ForgeError } from "@forge/client";
import { expect, test } from "vitest";
import { refusalOf } from "./refusal";

const refused = (error_code: ErrorCode, given: { error_data?: unknown; message?: string; hint?: string } = {}) => {
  const { error_data = null, message = null, hint = null } = given;
  const body = { success: false, data: null, error_data, message, error_code, hint, field: null };
  return new ForgeError(200, message ?? "[200] OK", body);
};

test("a rebase that stopped says where", () => {
  const error_data = { type: "merge_conflicts", message: "Rebase stopped at README.md", op: "rebase" };
  const stopped = refusalOf(refused("merge_conflicts", { error_data }));
  expect(stopped).toEqual({ text: "Rebase stopped at README.md", isConflict: true });
  expect(refusalOf(refused("operation_in_progress")).text).toContain("in progress");
});

test("what a code host refuses leads to the settings", () => {
  for (const code of ["host_token_invalid", "host_permission_missing", "host_repository_not_found"] as const) {
    expect(refusalOf(refused(code))).toMatchObject({ remedy: "github", text: expect.not.stringContaining("_") });
  }
});

test("other messages are the server's, with what to do apart", () => {
  const message = "Failed to push branch to GitHub: no remote; add one";
  expect(refusalOf(refused("no_remote", { message, hint: "add one" }))).toEqual({
    text: "Failed to push branch to GitHub: no remote",
    hint: "add one",
  });
});

test("what helps follows from the code and not from the words", () => {
  expect(refusalOf(refused("branch_diverged", { message: "main went on" })).remedy).toBe("rebase");
  expect(
    refusalOf(refused("conflict", { message: "the opinions on the GitHub token diverged" })).remedy,
  ).toBeUndefined();
});
