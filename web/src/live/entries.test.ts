// @vitest-environment happy-dom

import type { NormalizedEntry } from "@forge/client";
import { expect, it } from "vitest";
import { EntryList, WINDOW } from "./entries";

const said = (content: string): NormalizedEntry => ({
  timestamp: null,
  entry_type: { type: "assistant_message" },
  content,
  metadata: null,
});

it("keeps the rows of entries that have not changed", () => {
  const list = new EntryList("p");
  list.apply({ op: "add", index: 0, entry: said("a") });
  list.apply({ op: "add", index: 1, entry: said("b") });
  const before = list.take().rows;
  list.apply({ op: "replace", index: 1, entry: said("b, and more") });
  const after = list.take().rows;
  expect(after[0]).toBe(before[0]);
  expect(after[1]).not.toBe(before[1]);
  expect(after.map(({ entry }) => entry.content)).toEqual(["a", "b, and more"]);
});

it("lets the oldest go, counts them, and still finds those it has", () => {
  const list = new EntryList("p");
  const count = WINDOW * 2;
  for (let index = 0; index < count; index++) list.apply({ op: "add", index, entry: said(String(index)) });
  list.apply({ op: "replace", index: count - 1, entry: said("last") });
  list.apply({ op: "replace", index: 0, entry: said("gone") });
  const { rows, dropped } = list.take();
  expect(rows.length + dropped).toBe(count);
  expect(rows.length).toBeLessThan(WINDOW * 1.5);
  expect(rows.at(-1)?.entry.content).toBe("last");
  expect(rows[0]?.entry.content).toBe(String(dropped));
});

it("knows the newest list of things to do", () => {
  const list = new EntryList("p");
  const todos = [{ content: "Test it", status: "pending", priority: null }];
  const action_type = { action: "todo_management", todos, operation: "write" } as const;
  const entry_type = { type: "tool_use", tool_name: "TodoWrite", action_type, status: { status: "success" } } as const;
  list.apply({ op: "add", index: 0, entry: { ...said(""), entry_type } });
  list.apply({ op: "add", index: 1, entry: said("go on") });
  expect(list.take().todos).toEqual(todos);
});
