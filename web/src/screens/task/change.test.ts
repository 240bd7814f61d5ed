// @vitest-environment happy-dom
import type { Task } from "@forge/client";
import { expect, test } from "vitest";
import { changed } from "./change";

const TASK: Task = {
  id: "t",
  project_id: "p",
  title: "A",
  description: "words",
  status: "todo",
  parent_task_attempt: null,
  dev_server_id: null,
  created_at: "",
  updated_at: "",
  labels: ["x"],
};

test("only what is given changes", () => {
  expect(changed(TASK, {})).toEqual(TASK);
  expect(changed(TASK, { description: null, labels: null })).toEqual(TASK);
  expect(changed(TASK, { status: "done", labels: [] })).toEqual({ ...TASK, status: "done", labels: [] });
});

test("a blank description clears it", () => {
  expect(changed(TASK, { description: " " }).description).toBeNull();
});
