import { ForgeError } from "@forge/client";
import { expect, test } from "vitest";
import { hintOf, messageOf, reasonOf } from "./state";

test("what a browser says when nobody answers is not shown to people", () => {
  for (const words of [
    "Failed to fetch",
    "NetworkError when attempting to fetch resource.",
    "Load failed",
    "network error",
  ]) {
    expect(messageOf(new TypeError(words))).toBe("Forge can't be reached. Try again when it is back.");
  }
  expect(messageOf(new TypeError("x is not a function"))).toBe("x is not a function");
  expect(messageOf(new Error("The branch is gone"))).toBe("The branch is gone");
});

test("what is wrong and what to do stand apart, as far as the server distinguishes them", () => {
  const refused = (hint: string | null) =>
    new ForgeError(409, "The checkout has changes; commit them", { error_code: "uncommitted_changes", hint });
  expect([reasonOf(refused("commit them")), hintOf(refused("commit them"))]).toEqual([
    "The checkout has changes",
    "commit them",
  ]);
  expect([reasonOf(refused(null)), hintOf(refused(null))]).toEqual([
    "The checkout has changes; commit them",
    undefined,
  ]);
  expect(reasonOf(new Error("The branch is gone"))).toBe("The branch is gone");
});
