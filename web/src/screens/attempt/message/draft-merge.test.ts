// @vitest-environment happy-dom

import { describe, expect, it } from "vitest";
import { keep, mergeText, readKept } from "./draft-merge";

describe("text typed in two places", () => {
  it("takes what only one of them changed", () => {
    expect(mergeText("a", "a", "a b")).toBe("a b");
    expect(mergeText("a", "a c", "a")).toBe("a c");
  });

  it("follows the one that continues where the other was", () => {
    expect(mergeText("", "Add a", "Add a test")).toBe("Add a test");
    expect(mergeText("", "Add a test", "Add a")).toBe("Add a test");
  });

  it("keeps both when they differ", () => {
    const merged = mergeText("Fix", "Fix the login", "Fix the search");
    expect(merged).toContain("Fix the login");
    expect(merged).toContain("Fix the search");
  });

  it("empties the box when what it holds was sent elsewhere, and not when more was typed since", () => {
    expect(mergeText("sent", "sent", "")).toBe("");
    expect(mergeText("sent", "sent, and more", "")).toBe("sent, and more");
  });
});

it("keeps what the server does not have, and only that", () => {
  keep("a", { text: "typed", base: "" });
  expect(readKept("a")).toEqual({ text: "typed", base: "" });
  keep("a", { text: "typed", base: "typed" });
  expect(readKept("a")).toEqual({ text: "", base: "" });
});
