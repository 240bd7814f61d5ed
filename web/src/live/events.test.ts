// @vitest-environment happy-dom

import type { ForgeEvent } from "@forge/client";
import { QueryClient } from "@tanstack/react-query";
import { describe, expect, it } from "vitest";
import { keys } from "../api/keys";
import { keep, madeOldBy } from "./events";

const patch = (path: string, value: object | undefined): ForgeEvent =>
  ({ event: "json_patch", data: [{ op: "replace", path, value }] }) as unknown as ForgeEvent;
const event = (name: string, data: object): ForgeEvent => ({ event: name, data }) as unknown as ForgeEvent;

/** One of each kind that a server sends. */
const EVENTS: ForgeEvent[] = [
  patch("/tasks/t", { project_id: "p", status: "inreview", parent_task_attempt: "a" }),
  patch("/tasks/t", undefined),
  patch("/execution_processes/r", { task_attempt_id: "a", status: "completed" }),
  patch("/drafts/a", {}),
  event("card", {
    project_id: "p",
    task_id: "t",
    card: { attempt_id: "a", files_changed: 1, additions: 2, deletions: 3 },
    attempts: [{ id: "a", branch: "b" }],
  }),
  event("branch", { attempt_id: "a", project_id: "p", status: { commits_behind: 1 } }),
  event("conflicts", { project_id: "p", report: { pairs: [] } }),
  event("beads", "p" as unknown as object),
  event("approval", { task_attempt_id: "a" }),
  event("worker", {}),
  event("worker_removed", {}),
  event("alert", {}),
  event("routing", {}),
  event("project", {}),
  event("project_removed", {}),
];

/** What was kept before, and what events bring in its place. */
const KEPT: [readonly unknown[], unknown, unknown][] = [
  [keys.cards("p"), new Map(), new Map([["t", { attempt_id: "a", files_changed: 1, additions: 2, deletions: 3 }]])],
  [keys.attempts("t"), [], [{ id: "a", branch: "b" }]],
  [keys.attempt("a"), { branch: "old", task: "t" }, { id: "a", branch: "b", task: "t" }],
  [keys.figures("a"), { files: 0 }, { files: 1, additions: 2, deletions: 3 }],
  [keys.branchStatus("a"), { commits_behind: 0 }, { commits_behind: 1 }],
  [keys.conflicts("p"), { pairs: ["x"] }, { pairs: [] }],
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
  it("bring every answer that claims to be kept true by them, or make it old", () => {
    const named = new Set(EVENTS.flatMap((each) => madeOldBy(each).map(([name]) => name)));
    for (const [[name]] of KEPT) named.add(name);
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
    const old = EVENTS.flatMap(madeOldBy);
    expect(old.filter(([name]) => !kept.has(name))).toEqual([]);
  });

  it("are put where the page looks, and what they bring is not asked for again", () => {
    const queries = new QueryClient();
    for (const [key, before] of KEPT) queries.setQueryData(key, before);
    for (const each of EVENTS) keep(each, queries);
    for (const [key, , after] of KEPT) expect(queries.getQueryData(key)).toEqual(after);
    const old = EVENTS.filter(({ event }) => event !== "json_patch").flatMap(madeOldBy);
    const brought = new Set(KEPT.map(([[name]]) => name));
    expect(old.filter(([name]) => brought.has(name as string))).toEqual([]);
  });

  it("of a task make old what it does not carry, and whose child it is", () => {
    expect(madeOldBy(EVENTS[0] as ForgeEvent)).toEqual([keys.task("t"), keys.taskImages("t"), keys.relations("a")]);
  });
});
