// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { narrow } from "./picker";

const item = (label: string, more = {}) => ({ value: label, label, ...more });

test("all words must be found, in any order, in the label or beside it", () => {
  const groups = [{ heading: "A", items: [item("Plan", { words: "Claude Code" }), item("Codex")] }];
  expect(narrow(groups, "claude plan")[0]?.items.map(({ label }) => label)).toEqual(["Plan"]);
  expect(narrow(groups, "nothing")).toEqual([]);
});

test("hidden items appear only when they are looked for", () => {
  const groups = [{ heading: "A", items: [item("Plan", { hidden: true }), item("Codex")] }];
  expect(narrow(groups, "")[0]?.items).toHaveLength(1);
  expect(narrow(groups, "plan")[0]?.items).toHaveLength(1);
});

test("long lists are cut over all groups", () => {
  const many = Array.from({ length: 70 }, (_, at) => item(`branch ${at}`));
  const cut = narrow(
    [
      { heading: "A", items: many },
      { heading: "B", items: many },
    ],
    "",
  );
  expect(cut.map(({ items }) => items.length)).toEqual([70, 10]);
});
