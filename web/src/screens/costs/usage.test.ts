import type { UsageGroup } from "@forge/client";
import { describe, expect, it } from "vitest";
import { namesOf, periodOf, seriesOf, sortGroups, toCsv } from "./usage";

const group = (more: Partial<UsageGroup>): UsageGroup => ({
  input_tokens: 0,
  output_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
  cost_usd: null,
  unpriced_tokens: 0,
  runs: 1,
  ...more,
});

it("a period is whole days of UTC, today included", () => {
  expect(periodOf(7, Date.parse("2026-03-03T00:30:00Z"))).toEqual({ from: "2026-02-25", to: "2026-03-03" });
});

describe("series", () => {
  const names = namesOf("model", []);
  it("have a value for each day and the dearest first", () => {
    const groups = [
      group({ model: "small", day: "2026-01-01", cost_usd: 1 }),
      group({ model: "large", day: "2026-01-02", cost_usd: 5 }),
      group({ model: "large", day: "2026-01-01", cost_usd: 2 }),
      group({ model: "free", day: "2026-01-01", cost_usd: null, unpriced_tokens: 9 }),
      group({ model: "large", day: "2025-12-31", cost_usd: 100 }),
    ];
    expect(seriesOf(groups, ["2026-01-01", "2026-01-02"], "model", names)).toEqual([
      { key: "large", title: "large", values: [2, 5], total: 7 },
      { key: "small", title: "small", values: [1, 0], total: 1 },
    ]);
  });
});

it("groups without a price come last, by their tokens", () => {
  const groups = [
    group({ model: "few", input_tokens: 1 }),
    group({ model: "many", input_tokens: 9 }),
    group({ model: "dear", cost_usd: 1 }),
  ];
  expect(sortGroups(groups).map(({ model }) => model)).toEqual(["dear", "many", "few"]);
});

describe("csv", () => {
  const names = namesOf("model", []);
  it("is by day, quoted, and empty where no cost is known", () => {
    const csv = toCsv(
      [
        group({ model: 'a "b", c', day: "2026-01-02", cost_usd: 0.5, input_tokens: 7 }),
        group({ model: "plain", day: "2026-01-01", unpriced_tokens: 3 }),
      ],
      "model",
      names,
    );
    const [head, first, second] = csv.split("\r\n");
    expect(head).toMatch(/^day,model,/);
    expect(first).toBe("2026-01-01,plain,0,0,0,0,0,1,,3");
    expect(second).toBe('2026-01-02,"a ""b"", c",7,0,0,0,0,1,0.5,0');
  });

  it("has no formulas", () => {
    expect(toCsv([group({ model: "=HYPERLINK(1)", day: "2026-01-01" })], "model", names)).toContain(",'=HYPERLINK(1),");
  });
});
