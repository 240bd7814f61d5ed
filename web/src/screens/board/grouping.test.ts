import { expect, test } from "vitest";
import { readFilter } from "./filter";
import { groupTasks, sortTasks } from "./grouping";
import { aCard, aTask } from "./sample-task";

const ALL = readFilter({});
const at = (minute: number): string => `2026-11-16T10:${String(minute).padStart(2, "0")}:00.000Z`;
const ids = (tasks: readonly { id: string }[] | undefined): string[] => tasks?.map(({ id }) => id) ?? [];

const byId = (...tasks: ReturnType<typeof aTask>[]) => new Map(tasks.map((task) => [task.id, task]));

test("the newest change is first, and equals keep their order however they come", () => {
  const tasks = [
    aTask({ id: "a", updated_at: at(1) }),
    aTask({ id: "b", updated_at: at(3) }),
    aTask({ id: "c", updated_at: at(1) }),
  ];
  expect(ids(sortTasks(byId(...tasks)))).toEqual(["b", "c", "a"]);
  expect(ids(sortTasks(byId(...tasks.reverse())))).toEqual(["b", "c", "a"]);
});

test("sorting on from what was sorted gives the same as sorting again", () => {
  let tasks = byId(...Array.from({ length: 40 }, (_, nth) => aTask({ id: `t${nth}`, updated_at: at((nth * 7) % 20) })));
  let sorted = sortTasks(tasks);
  for (let round = 0; round < 30; round += 1) {
    tasks = new Map(tasks);
    tasks.delete(`t${round}`);
    tasks.set(`t${round + 5}`, aTask({ id: `t${round + 5}`, updated_at: at((round * 11) % 60) }));
    tasks.set(`n${round}`, aTask({ id: `n${round}`, updated_at: at((round * 13) % 60) }));
    sorted = sortTasks(tasks, sorted);
    expect(ids(sorted)).toEqual(ids(sortTasks(tasks)));
  }
  expect(sortTasks(tasks, sorted)).toBe(sorted);
});

test("tasks of no column are nowhere", () => {
  const columns = groupTasks([aTask({ status: "archived" }), aTask({ status: "agent" })], ALL, new Map(), undefined);
  expect([...columns.values()].flat()).toEqual([]);
});

test("a moved task is in its new column at once, on top, and only there", () => {
  const tasks = [aTask({ id: "a" }), aTask({ id: "b", status: "done", updated_at: at(9) })];
  const columns = groupTasks(tasks, ALL, new Map([["a", "done"]]), undefined);
  expect(ids(columns.get("todo"))).toEqual([]);
  expect(ids(columns.get("done"))).toEqual(["a", "b"]);
});

test("a move that the server has confirmed changes nothing any more", () => {
  const tasks = [
    aTask({ id: "b", status: "done", updated_at: at(2) }),
    aTask({ id: "a", status: "done", updated_at: at(1) }),
  ];
  expect(ids(groupTasks(tasks, ALL, new Map([["a", "done"]]), undefined).get("done"))).toEqual(["b", "a"]);
});

test("a column in which nothing changed is the same array", () => {
  const tasks = [aTask({ id: "a" }), aTask({ id: "b", status: "done" })];
  const before = groupTasks(tasks, ALL, new Map(), undefined);
  const after = groupTasks([aTask({ id: "a", title: "Other" }), ...tasks.slice(1)], ALL, new Map(), undefined, before);
  expect(after.get("done")).toBe(before.get("done"));
  expect(after.get("todo")).not.toBe(before.get("todo"));
});

test("a task that waits for an answer stands on top of what is in progress", () => {
  const tasks = [
    aTask({ id: "new", status: "inprogress", updated_at: at(9) }),
    aTask({ id: "asks", status: "inreview", updated_at: at(1) }),
    aTask({ id: "failed", status: "inreview", updated_at: at(0) }),
  ];
  const cards = new Map([
    ["new", aCard({ task_id: "new", status: "running" })],
    ["asks", aCard({ task_id: "asks", status: "running", waiting_approvals: 1 })],
    ["failed", aCard({ task_id: "failed", status: "failed", files_changed: 0 })],
  ]);
  const columns = groupTasks(tasks, ALL, new Map(), cards);
  expect(ids(columns.get("inprogress"))).toEqual(["asks", "new"]);
  expect(ids(columns.get("todo"))).toEqual(["failed"]);
  expect(ids(columns.get("inreview"))).toEqual([]);
  expect(ids(groupTasks(tasks, ALL, new Map([["failed", "done"]]), cards).get("done"))).toEqual(["failed"]);
});
