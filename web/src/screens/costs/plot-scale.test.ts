import { describe, expect, it } from "vitest";
import { money } from "../../ui/format";
import { daysBetween, gather, labelEvery, namedTicks, OTHER, type Series, ticks } from "./plot-scale";

describe("ticks", () => {
  it("are round, begin at 0 and reach the most", () => {
    expect(ticks(7.3)).toEqual([0, 2, 4, 6, 8]);
    expect(ticks(0.31)).toEqual([0, 0.1, 0.2, 0.3, 0.4]);
    expect(ticks(1000)).toEqual([0, 250, 500, 750, 1000]);
    for (const most of [0.003, 0.07, 1, 3, 12.5, 99, 4321]) {
      const values = ticks(most);
      expect(values.at(-1)).toBeGreaterThanOrEqual(most);
      expect(values.length).toBeLessThanOrEqual(6);
    }
  });

  it("are there for a plot of nothing", () => {
    expect(ticks(0)).toEqual([0, 1]);
    expect(ticks(Number.NaN)).toEqual([0, 1]);
  });
  it("are only the two ends where the names would repeat", () => {
    expect(namedTicks(0.01, money)).toEqual([0, 0.01]);
    expect(namedTicks(1000, money)).toEqual(ticks(1000));
  });
});

it("names have room", () => {
  expect(labelEvery(7, 700, 48)).toBe(1);
  expect(labelEvery(90, 300, 48)).toBe(15);
});

it("days are whole, over the ends of months and without the clock's change", () => {
  expect(daysBetween("2026-02-27", "2026-03-02")).toEqual(["2026-02-27", "2026-02-28", "2026-03-01", "2026-03-02"]);
  expect(daysBetween("2026-10-20", "2026-10-30")).toHaveLength(11);
});

describe("gather", () => {
  const series = (key: string, ...values: number[]): Series => ({
    key,
    title: key,
    values,
    total: values.reduce((sum, value) => sum + value, 0),
  });

  it("keeps the largest and adds up the rest, losing nothing", () => {
    const all = [series("a", 1, 0), series("b", 5, 5), series("c", 2, 0), series("d", 0, 1)];
    const shown = gather(all, 2);
    expect(shown.map(({ key }) => key)).toEqual(["b", "c", OTHER]);
    expect(shown[2]).toMatchObject({ values: [1, 1], total: 2, title: "2 others" });
  });

  it("does not hide a single one behind the word others", () => {
    expect(gather([series("a", 1), series("b", 2), series("c", 3)], 2).map(({ key }) => key)).toEqual(["c", "b", "a"]);
  });
});
