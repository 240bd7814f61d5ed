import type { FoundAgent } from "@forge/client";
import { expect, test } from "vitest";
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
  expect([ready, waiting, missing].map((list) => list.map(({ executor }) => executor))).toEqual([
    ["A", "D"],
    ["B"],
    ["C"],
  ]);
});
