import { act, cleanup, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, it } from "vitest";
import { useKept } from "./kept";

beforeEach(() => localStorage.clear());
afterEach(cleanup);

it("what was typed is there again until it is cleared", () => {
  const first = renderHook(() => useKept("place"));
  act(() => first.result.current[1]("half a sent"));
  first.unmount();
  const second = renderHook(() => useKept("place"));
  expect(second.result.current[0]).toBe("half a sent");
  act(() => second.result.current[2]());
  expect(second.result.current[0]).toBe("");
  expect(renderHook(() => useKept("place")).result.current[0]).toBe("");
});

it("places do not see each other's texts, also when one takes the other's place", () => {
  const { result, rerender } = renderHook(({ place }) => useKept(place), { initialProps: { place: "a" } });
  act(() => result.current[1]("for a"));
  rerender({ place: "b" });
  expect(result.current[0]).toBe("");
  act(() => result.current[1]("for b"));
  rerender({ place: "a" });
  expect(result.current[0]).toBe("for a");
});
