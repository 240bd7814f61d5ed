import { act, render } from "@testing-library/react";
import { Profiler } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Ago } from "./clock";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it("is drawn when its words change, not each second", () => {
  const drawn = vi.fn();
  const { container } = render(
    <Profiler id="ago" onRender={drawn}>
      <Ago time={new Date(Date.now() - 60_000).toISOString()} />
    </Profiler>,
  );
  expect(container.textContent).toBe("1m ago");
  drawn.mockClear();
  act(() => vi.advanceTimersByTime(20_000));
  expect(drawn).not.toHaveBeenCalled();
  act(() => vi.advanceTimersByTime(60_000));
  expect(container.textContent).toBe("2m ago");
});
