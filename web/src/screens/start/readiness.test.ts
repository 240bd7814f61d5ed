import type { FoundAgent } from "@forge/client";
import { expect, test } from "vitest";
import { nextStep } from "../../parts/agents";
import { sortAgents } from "./readiness";

const agent = (executor: string, found: FoundAgent["found"], ready: boolean): FoundAgent => ({
  executor,
  name: executor,
  program: executor,
  protocol: "",
  found,
  path: null,
  version: null,
  keys: [],
  logged_in: ready,
  ready,
  state: ready ? "ready" : found === "path" ? "not_logged_in" : "not_installed",
  install: "",
  log_in: null,
});

test("each agent is in exactly one place", () => {
  const all = [
    agent("A", "path", true),
    agent("B", "path", false),
    agent("C", null, false),
    agent("D", "npx", true),
    agent("E", "npx", false),
  ];
  const { ready, waiting, missing } = sortAgents(all);
  const names = [ready, waiting, missing].map((list) => list.map(({ executor }) => executor));
  expect(names).toEqual([["A", "D"], ["B"], ["C", "E"]]);
});

test("what is not there is installed first, then logged in", () => {
  const both = { install: "npm install x", log_in: "x login" };
  expect(nextStep({ ...agent("A", null, false), ...both })).toBe("npm install x");
  expect(nextStep({ ...agent("A", "npx", false), ...both })).toBe("npm install x");
  expect(nextStep({ ...agent("A", "path", false), ...both })).toBe("x login");
  expect(nextStep({ ...agent("A", "path", true), ...both })).toBeNull();
});
