import { renderHook } from "@testing-library/react";
import { expect, test } from "vitest";
import { useTitle, useWaitingMark } from "./title";

test("the title names the screen and how many questions wait, whichever of them changes", () => {
  const screen = renderHook(({ title }) => useTitle(title), { initialProps: { title: "Board" } });
  const mark = renderHook(({ count }) => useWaitingMark(count), { initialProps: { count: 0 } });
  expect(document.title).toBe("Board · Forge");
  mark.rerender({ count: 2 });
  screen.rerender({ title: "(1) Fleet" });
  expect(document.title).toBe("(2) (1) Fleet · Forge");
  mark.rerender({ count: 0 });
  expect(document.title).toBe("(1) Fleet · Forge");
});
