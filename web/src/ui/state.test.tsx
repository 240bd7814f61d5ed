import { expect, test } from "vitest";
import { messageOf } from "./state";

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
