import { describe, expect, it } from "vitest";
import { changesIn, faultOf, isSame, nest, valueAt } from "./form-value";

const stored = { theme: "DARK", fleet: { max_workers: 10, caps: { free: null }, health: { memory_limit_mb: 1 } } };

describe("a draft of settings", () => {
  it("holds only what differs from what is stored", () => {
    const draft = { theme: "LIGHT", "fleet.max_workers": 10, "fleet.caps": { free: 2 } };
    expect(changesIn(draft, stored)).toEqual({ theme: "LIGHT", "fleet.caps": { free: 2 } });
    expect(changesIn({ absent: null }, stored)).toEqual({});
  });

  it("is sent as the tree that the server takes, without what it does not touch", () => {
    expect(nest({ "fleet.max_workers": 3, "fleet.health.memory_limit_mb": 5, theme: "LIGHT" })).toEqual({
      fleet: { max_workers: 3, health: { memory_limit_mb: 5 } },
      theme: "LIGHT",
    });
  });

  it("reads values by path and takes absent for null", () => {
    expect(valueAt(stored, "fleet.health.memory_limit_mb")).toBe(1);
    expect(valueAt(stored, "fleet.nothing.here")).toBeUndefined();
    expect(isSame(undefined, null)).toBe(true);
    expect(isSame(["a"], ["b"])).toBe(false);
  });
});

describe("a message of the server", () => {
  const paths = ["fleet.max_workers", "fleet.caps", "git_branch_prefix"];

  it("stands at the field that it names", () => {
    const message = "fleet.max_workers: invalid value: integer `-1`, expected u32 at line 1 column 26";
    expect(faultOf(message, paths)).toEqual({
      path: "fleet.max_workers",
      message: "invalid value: integer `-1`, expected u32",
    });
    expect(faultOf("fleet.caps.premium: too many", paths)).toEqual({
      path: "fleet.caps",
      message: "premium: too many",
    });
    expect(faultOf("Invalid git branch prefix 'a/b'.", paths).path).toBe("git_branch_prefix");
  });

  it("is about the whole when it names no field that was changed", () => {
    expect(faultOf("theme: unknown", paths)).toEqual({ path: null, message: "theme: unknown" });
    expect(faultOf("the disk is full", paths).path).toBeNull();
  });
});
