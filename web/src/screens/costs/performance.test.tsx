import type { ModelPerformance } from "@forge/client";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { modelsUsageQuery } from "../../api/queries/costs";
import { Models } from "./performance";

const model = (name: string, call_count: number): ModelPerformance => ({
  model: name,
  call_count,
  total_tokens: 47_000,
  total_cost_usd: 0.1,
  avg_cost_per_1k_tokens: 0.002,
  avg_latency_ms: null,
  cache_hit_rate: null,
});

test("a model that was used has no zero calls: where nobody counted them, none are named", () => {
  const period = { from: "2026-01-01", to: "2026-01-30" };
  const queries = new QueryClient();
  queries.setQueryData(modelsUsageQuery(period).queryKey, [model("uncounted", 0), model("counted", 1_200)]);
  render(
    <QueryClientProvider client={queries}>
      <Models period={period} />
    </QueryClientProvider>,
  );
  const calls = screen.getAllByRole("row").map((row) => row.children[1]?.textContent);
  expect(calls).toEqual(["Calls", "–", "1,200"]);
});
