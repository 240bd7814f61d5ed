import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { paced } from "./pace";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it("tells single changes at once", () => {
  const tell = vi.fn();
  const { changed } = paced(tell);
  vi.advanceTimersByTime(1_000);
  changed();
  changed();
  expect(tell).toHaveBeenCalledTimes(2);
});

it("tells a flood a few times a second, and its last change too", () => {
  const tell = vi.fn();
  const { changed } = paced(tell);
  vi.advanceTimersByTime(1_000);
  for (let at = 0; at < 5_000; at++) changed();
  const atOnce = tell.mock.calls.length;
  expect(atOnce).toBeLessThan(100);
  vi.advanceTimersByTime(1_000);
  expect(tell).toHaveBeenCalledTimes(atOnce + 1);
});

it("tells nothing after its end", () => {
  const tell = vi.fn();
  const pace = paced(tell);
  vi.advanceTimersByTime(1_000);
  for (let at = 0; at < 5_000; at++) pace.changed();
  const before = tell.mock.calls.length;
  pace.stop();
  vi.advanceTimersByTime(1_000);
  expect(tell).toHaveBeenCalledTimes(before);
});
