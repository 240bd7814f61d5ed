// @vitest-environment happy-dom
import type { FoundAgent } from "@forge/client";
import { beforeEach, expect, test } from "vitest";
import { agentLabel, agentOffers, choiceOf, profileOf, rememberAgent, rememberedAgent, variantName } from "./agents";

const EXECUTORS = {
  CODEX: { HIGH: { CODEX: {} }, GENIE: { CODEX: { model: "gpt-5" } } },
  AMP: { GENIE: { AMP: {} } },
  CLAUDE_CODE: { PLAN: { CLAUDE_CODE: { plan: true } }, GENIE: { CLAUDE_CODE: {} } },
};

const found = (executor: string, more: Partial<FoundAgent>): FoundAgent => ({
  executor,
  name: executor,
  program: executor,
  protocol: "x",
  found: "path",
  path: null,
  version: null,
  keys: [],
  logged_in: true,
  ready: true,
  install: "npm i x",
  log_in: "x login",
  ...more,
});

beforeEach(() => localStorage.clear());

test("agents that cannot be used come last, and say why", () => {
  const agents = [
    found("AMP", { ready: false, found: null }),
    found("CLAUDE_CODE", { ready: false, logged_in: false }),
    found("CODEX", {}),
  ];
  const offers = agentOffers(EXECUTORS, agents);
  expect(offers.map(({ executor }) => executor)).toEqual(["CODEX", "AMP", "CLAUDE_CODE"]);
  expect(offers.map(({ reason }) => reason)).toEqual([
    null,
    "Not installed. Run: npm i x",
    "Not logged in. Run: x login",
  ]);
});

test("without knowledge of the machine every agent is offered", () => {
  const offers = agentOffers(EXECUTORS, undefined);
  expect(offers.map(({ name }) => name)).toEqual(["Amp", "Claude Code", "Codex"]);
  expect(offers.every(({ ready }) => ready === undefined)).toBe(true);
});

test("the default variant comes first and has no name of its own", () => {
  const codex = agentOffers(EXECUTORS, undefined).find(({ executor }) => executor === "CODEX");
  expect(codex?.variants).toEqual([
    { id: null, model: "gpt-5" },
    { id: "HIGH", model: null },
  ]);
});

test("models come from profiles and settings, each once", () => {
  const extra = [
    { executor: "CODEX", model: "gpt-5" },
    { executor: "CODEX", model: "o9" },
    { executor: "AMP", model: "no" },
  ];
  const codex = agentOffers(EXECUTORS, undefined, extra).find(({ executor }) => executor === "CODEX");
  expect(codex?.models).toEqual(["gpt-5", "o9"]);
});

test("names are short", () => {
  expect(variantName("SONNET_4_5_THINKING")).toBe("Sonnet 4.5 thinking");
  expect(variantName("GPT_5")).toBe("GPT 5");
  expect(agentLabel({ executor: "CLAUDE_CODE", variant: "PLAN", model: "opus" })).toBe("Claude Code · Plan · opus");
  expect(agentLabel({ executor: "CODEX", variant: null, model: null })).toBe("Codex");
});

test("a choice goes to the server without empty parts and comes back the same", () => {
  const choice = { executor: "CODEX", variant: null, model: null };
  expect(profileOf(choice)).toEqual({ executor: "CODEX" });
  expect(choiceOf({ executor: "CODEX", variant: "GENIE" })).toEqual(choice);
});

test("the last choice is remembered per project, and forgotten with its profile", () => {
  rememberAgent("p", { executor: "CODEX", variant: "HIGH", model: null });
  expect(rememberedAgent("p", EXECUTORS)).toEqual({ executor: "CODEX", variant: "HIGH", model: null });
  expect(rememberedAgent("q", EXECUTORS)).toBeNull();
  expect(rememberedAgent("p", { CODEX: { GENIE: {} } })?.variant).toBeNull();
  expect(rememberedAgent("p", {})).toBeNull();
  localStorage.setItem("forge.agent.p", "{broken");
  expect(rememberedAgent("p", EXECUTORS)).toBeNull();
});
