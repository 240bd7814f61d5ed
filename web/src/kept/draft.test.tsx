// @vitest-environment happy-dom
import { act, cleanup, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { readDraft, restoreForm, useDraft, useDraftText } from "./draft";

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

test("words are kept at once, until they are cleared", () => {
  const first = renderHook(() => useDraftText("x"));
  act(() => first.result.current[1]("half a sent"));
  expect(readDraft("x")).toBe("half a sent");
  const second = renderHook(() => useDraftText("x"));
  expect(second.result.current[0]).toBe("half a sent");
  act(() => second.result.current[2]());
  expect(second.result.current[0]).toBe("");
  expect(readDraft("x")).toBeNull();
});

test("words that were taken away do not come back, those that were offered do when it is cleared", () => {
  const first = renderHook(() => useDraftText("x", "offered"));
  expect(first.result.current[0]).toBe("offered");
  act(() => first.result.current[1](""));
  const second = renderHook(() => useDraftText("x", "offered"));
  expect(second.result.current[0]).toBe("");
  act(() => second.result.current[2]());
  expect(second.result.current[0]).toBe("offered");
});

test("places do not see each other's words, also when one takes the other's place", () => {
  const { result, rerender } = renderHook(({ place }) => useDraftText(place), { initialProps: { place: "a" } });
  act(() => result.current[1]("for a"));
  rerender({ place: "b" });
  expect(result.current[0]).toBe("");
  act(() => result.current[1]("for b"));
  rerender({ place: "a" });
  expect(result.current[0]).toBe("for a");
});

test("what was kept in another shape is left out", () => {
  const empty: { title: string; labels: string[]; made: number | null } = { title: "", labels: [], made: null };
  const kept = { title: "a", labels: "b", made: 3, other: 1 };
  expect(restoreForm(empty, kept)).toEqual({ title: "a", labels: [], made: 3 });
  expect(restoreForm(empty, "broken")).toBe(empty);
});
