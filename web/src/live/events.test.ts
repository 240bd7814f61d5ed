// @vitest-environment happy-dom

import type { ForgeEvent } from "@forge/client";
import { describe, expect, it } from "vitest";
import { keys } from "../api/keys";
import { madeOldBy } from "./events";

const patch = (path: string, value: object | undefined): ForgeEvent =>
  ({ event: "json_patch", data: [{ op: "replace", path, value }] }) as unknown as ForgeEvent;
const event = (name: string, data: object): ForgeEvent => ({ event: name, data }) as unknown as ForgeEvent;

/** One of each kind that a server sends. */
const EVENTS: ForgeEvent[] = [
  patch("/tasks/t", { project_id: "p", status: "inreview", parent_task_attempt: "a" }),
  patch("/tasks/t", undefined),
  patch("/execution_processes/r", { task_attempt_id: "a", status: "completed" }),
  patch("/drafts/a", {}),
  event("approval", { task_attempt_id: "a" }),
  event("worker", {}),
  event("worker_removed", {}),
  event("alert", {}),
  event("routing", {}),
  event("project", {}),
  event("project_removed", {}),
  event("attempt", { id: "a", task_id: "t", project_id: "p", status: "completed" }),
];

interface Asked {
  queryKey: readonly unknown[];
  staleTime?: unknown;
  meta?: { keptTrueBy?: string };
}

const modules = import.meta.glob<Record<string, (...given: unknown[]) => Asked>>("../api/queries/*.ts", {
  eager: true,
});
const asked = Object.values(modules)
  .flatMap((module) => Object.values(module))
  .map((query) => query("1", "2", "3", "4"));

describe("events", () => {
  it("name every answer that claims to be kept true by them", () => {
    const named = new Set(EVENTS.flatMap((each) => madeOldBy(each).keys.map(([name]) => name)));
    // Cards are asked for again one by one.
    if (EVENTS.some((each) => madeOldBy(each).cards.length > 0)) named.add(keys.cards()[0]);
    const claimed = asked.filter(({ meta }) => meta?.keptTrueBy === "events").map(({ queryKey }) => queryKey[0]);
    expect(claimed.length).toBeGreaterThan(8);
    expect(claimed.filter((name) => !named.has(name))).toEqual([]);
  });

  it("or the key keep true whatever never grows old", () => {
    const eternal = asked.filter(({ staleTime }) => staleTime === Number.POSITIVE_INFINITY);
    expect(eternal.filter(({ meta }) => meta?.keptTrueBy === undefined)).toEqual([]);
  });

  it("make old only what is asked for somewhere", () => {
    const kept = new Set(asked.map(({ queryKey }) => queryKey[0]));
    const old = EVENTS.flatMap((each) => madeOldBy(each).keys);
    expect(old.filter(([name]) => !kept.has(name))).toEqual([]);
  });

  it("of a task look at its card, its attempts, and at those it may stand against", () => {
    const { keys: old, cards } = madeOldBy(EVENTS[0] as ForgeEvent);
    expect(cards).toEqual([{ projectId: "p", taskId: "t" }]);
    expect(old).toEqual([
      keys.task("t"),
      keys.attempts("t"),
      keys.taskImages("t"),
      keys.conflicts("p"),
      keys.relations("a"),
    ]);
  });
});
