import { expect, test } from "vitest";
import { facetsOf, isFiltered, matches, readFilter, shownColumns, withChoice } from "./filter";
import { aTask } from "./sample-task";

test("words are looked for in title and description, in any order and case", () => {
  const task = aTask({ title: "Round prices" });
  const descriptions = new Map([[task.id, "sums of floats drift"]]);
  expect(matches(task, { ...readFilter({ q: "floats ROUND" }), descriptions })).toBe(true);
  expect(matches(task, { ...readFilter({ q: "round cents" }), descriptions })).toBe(false);
  expect(matches(task, readFilter({ q: "PRICES" }))).toBe(true);
  expect(matches(task, readFilter({}))).toBe(true);
});

test("a task needs one of the agents and one of the labels", () => {
  const task = aTask({ executor: "CODEX", labels: ["bug", "ui"] });
  expect(matches(task, readFilter({ agent: "CLAUDE_CODE,CODEX", label: "ui" }))).toBe(true);
  expect(matches(task, readFilter({ agent: "CLAUDE_CODE" }))).toBe(false);
  expect(matches(task, readFilter({ label: "docs" }))).toBe(false);
  expect(matches(aTask(), readFilter({ label: "docs" }))).toBe(false);
});

test("statuses choose columns; unknown ones hide nothing", () => {
  expect(shownColumns(readFilter({ status: "done,todo" })).map((column) => column.status)).toEqual(["todo", "done"]);
  expect(shownColumns(readFilter({ status: "nonsense" }))).toHaveLength(5);
  expect(shownColumns(readFilter({}))).toHaveLength(5);
});

test("a choice goes in and out of the address, and leaves nothing behind", () => {
  const one = withChoice(undefined, "CODEX", true);
  expect(one).toBe("CODEX");
  expect(withChoice(one, "AMP", true)).toBe("CODEX,AMP");
  expect(withChoice("CODEX,AMP", "CODEX", false)).toBe("AMP");
  expect(withChoice("CODEX", "CODEX", false)).toBeUndefined();
  expect(withChoice("CODEX", "CODEX", true)).toBe("CODEX");
});

test("an open dialog is no filter", () => {
  expect(isFiltered({ new: true })).toBe(false);
  expect(isFiltered({ label: "ui" })).toBe(true);
});

test("what there is to choose from is sorted and listed once", () => {
  const tasks = [
    aTask({ executor: "CODEX", labels: ["ui"] }),
    aTask({ executor: "AMP" }),
    aTask({ labels: ["a", "ui"] }),
  ];
  expect(facetsOf(tasks)).toEqual({ agents: ["AMP", "CODEX"], labels: ["a", "ui"] });
});
