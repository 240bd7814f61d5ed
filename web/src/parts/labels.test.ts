import { expect, test } from "vitest";
import { addLabels, otherLabels } from "./labels";

test("labels are taken once, without blanks around them", () => {
  expect(addLabels(["bug"], " Bug, docs ,, two  words")).toEqual(["bug", "docs", "two words"]);
  const labels = ["bug"];
  expect(addLabels(labels, "BUG")).toBe(labels);
});

test("only labels that are not there yet are suggested", () => {
  const tasks = [{ labels: ["ui", "bug"] }, {}, { labels: ["api", "ui"] }];
  expect(otherLabels(tasks, ["BUG"])).toEqual(["api", "ui"]);
});
