// @vitest-environment happy-dom

import { beforeEach, expect, it, vi } from "vitest";
import { keep, keepWord, kept, keptWord } from "./kept";

beforeEach(() => localStorage.clear());

it("what is kept comes back, and is gone when it is taken away", () => {
  keep("draft.x", { text: "half a sent" });
  keepWord("theme", "dark");
  expect(kept("draft.x")).toEqual({ text: "half a sent" });
  expect(localStorage.getItem("forge.theme")).toBe("dark");
  keep("draft.x", null);
  keepWord("theme", undefined);
  expect(localStorage.length).toBe(0);
});

it("a storage that is broken, full or forbidden stops nobody", () => {
  localStorage.setItem("forge.draft.x", "{");
  expect(kept("draft.x")).toBeNull();
  const refuse = (): never => {
    throw new DOMException("full", "QuotaExceededError");
  };
  vi.stubGlobal("localStorage", { getItem: refuse, setItem: refuse, removeItem: refuse });
  expect(keptWord("project")).toBeUndefined();
  expect(() => keep("viewed.a", {})).not.toThrow();
  expect(() => keepWord("project", undefined)).not.toThrow();
  vi.unstubAllGlobals();
});
