// @vitest-environment happy-dom
import { act, cleanup, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { readDraft, useDraft } from "./draft";

const restore = (kept: unknown): string => (typeof kept === "string" ? kept : "");

beforeEach(() => {
  localStorage.clear();
  vi.useFakeTimers();
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

test("what is written is kept after a moment, and at once when the page goes", () => {
  const { result, unmount } = renderHook(() => useDraft("x", restore));
  act(() => result.current.set("one"));
  expect(readDraft("x")).toBeNull();
  act(() => void vi.advanceTimersByTime(300));
  expect(readDraft("x")).toBe("one");
  act(() => result.current.set("two"));
  dispatchEvent(new Event("pagehide"));
  expect(readDraft("x")).toBe("two");
  act(() => result.current.set((now) => `${now} three`));
  unmount();
  expect(readDraft("x")).toBe("two three");
});

test("it comes back, and is gone when it was sent", () => {
  localStorage.setItem("forge.draft.x", '"kept"');
  const { result, unmount } = renderHook(() => useDraft("x", restore));
  expect(result.current.value).toBe("kept");
  act(() => result.current.set("more"));
  act(() => result.current.clear());
  expect(result.current.value).toBe("");
  act(() => void vi.advanceTimersByTime(300));
  unmount();
  expect(readDraft("x")).toBeNull();
});
