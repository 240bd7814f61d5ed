// @vitest-environment happy-dom
import { act, renderHook } from "@testing-library/react";
import { expect, test } from "vitest";
import { Channel } from "./channel";
import { noteCut, noteWord, useConnection } from "./connection";

test("a stream that is cut after the server is back does not say that it is away", () => {
  const { result } = renderHook(() => useConnection().state);
  let cut: () => void = () => {};
  const channel = new Channel<null>(
    ({ onReconnect }) => {
      cut = () => onReconnect?.(new Error("cut"));
      return new Promise(() => {});
    },
    () => null,
  );
  channel.subscribe(() => {});
  act(() => noteCut());
  expect(result.current).toBe("lost");
  act(() => noteWord());
  act(() => cut());
  expect(result.current).toBe("live");
});
