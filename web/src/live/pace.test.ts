import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { paced } from "./pace";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it("passes on single changes at once", () => {
  const show = vi.fn();
  const { changed } = paced(show);
  vi.advanceTimersByTime(1_000);
  changed();
  changed();
  expect(show).toHaveBeenCalledTimes(2);
});

it("passes on a flood a few times a second, and its last change too", () => {
  const show = vi.fn();
  const { changed } = paced(show);
  vi.advanceTimersByTime(1_000);
  for (let at = 0; at < 5_000; at++) changed();
  const atOnce = show.mock.calls.length;
  expect(atOnce).toBeLessThan(100);
  vi.advanceTimersByTime(1_000);
  expect(show).toHaveBeenCalledTimes(atOnce + 1);
});

it("passes on nothing after its end", () => {
  const show = vi.fn();
  const pace = paced(show);
  vi.advanceTimersByTime(1_000);
  for (let at = 0; at < 5_000; at++) pace.changed();
  const before = show.mock.calls.length;
  pace.stop();
  vi.advanceTimersByTime(1_000);
  expect(show).toHaveBeenCalledTimes(before);
});
