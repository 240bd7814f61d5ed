// @vitest-environment happy-dom

import { act, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { endOf, useTail } from "./tail";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const own = (px: number): number => px;

it("takes as many of the last rows as fill the window", () => {
  expect(endOf([20, 20, 300, 20, 20], 300, own)).toEqual([300, 20, 20]);
});

it("takes one row that is higher than the window, and all rows when they do not fill it", () => {
  expect(endOf([20, 900], 300, own)).toEqual([900]);
  expect(endOf([20, 20], 300, own)).toEqual([20, 20]);
  expect(endOf([], 300, own)).toEqual([]);
});

it("keeps a flood from the list until it is calm, or at once when nothing more can come", () => {
  const rows = Array.from({ length: 500 }, (_, at) => at);
  const given = (count: number, isWhole: boolean) => ({ rows: rows.slice(0, count), isWhole });
  const { result, rerender } = renderHook(({ rows, isWhole }) => useTail(rows, true, isWhole, own), {
    initialProps: given(0, false),
  });
  rerender(given(200, false));
  rerender(given(400, false));
  expect(result.current.listed).toHaveLength(200);
  expect(result.current.tail?.at(-1)).toBe(399);
  rerender(given(500, true));
  act(() => vi.advanceTimersByTime(1));
  expect(result.current.listed).toHaveLength(500);
  expect(result.current.tail?.at(-1)).toBe(499);
  act(() => vi.advanceTimersByTime(1_000));
  expect(result.current.tail).toBeUndefined();
});
