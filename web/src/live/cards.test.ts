// @vitest-environment happy-dom

import type { TaskCard } from "@forge/client";
import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, expect, it, vi } from "vitest";
import { cardsQuery } from "../api/queries/project";
import { refreshCard } from "./cards";

afterEach(() => vi.useRealTimers());

it("a change that comes while the first cards are on their way is not lost", async () => {
  vi.useFakeTimers();
  const queries = new QueryClient();
  let asked = 0;
  let arrive = (): void => {};
  const ask = () =>
    new Promise<Map<string, TaskCard>>((resolve) => {
      asked += 1;
      arrive = () => resolve(new Map());
    });
  const stop = new QueryObserver(queries, { queryKey: cardsQuery("p").queryKey, queryFn: ask }).subscribe(() => {});
  refreshCard(queries, "p", "t");
  await vi.advanceTimersByTimeAsync(1000);
  expect(asked).toBe(1);
  arrive();
  await vi.advanceTimersByTimeAsync(1000);
  expect(asked).toBe(2);
  stop();
});
