import { expect, test } from "vitest";
import { parseBudget } from "./budget";

test("budgets are read as people write them", () => {
  expect(["", " $2.50", "0,5", "0", "-1", "much"].map(parseBudget)).toEqual([
    null,
    2.5,
    0.5,
    undefined,
    undefined,
    undefined,
  ]);
});
