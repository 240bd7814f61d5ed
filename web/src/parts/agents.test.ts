// @vitest-environment happy-dom
import type { FoundAgent } from "@forge/client";
import { beforeEach, expect, test } from "vitest";
import {
  agentLabel,
  agentOffers,
  choiceOf,
  MISSING,
  missingOf,
  preferredAgent,
  profileOf,
  rememberAgent,
  rememberedAgent,
  variantName,
} from "./agents";

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
  state: "ready",
  install: "npm i x",
  log_in: "x login",
  ...more,
});

beforeEach(() => localStorage.clear());

test("agents that cannot be used come after those that can, and say what is missing", () => {
  const agents = [
    found("AMP", { ready: false, found: "npx", state: "not_installed" }),
    found("CLAUDE_CODE", { ready: false, logged_in: false, state: "not_logged_in" }),
    found("CODEX", {}),
  ];
  const offers = agentOffers(EXECUTORS, agents);
  expect(offers.map(({ executor }) => executor)).toEqual(["CODEX", "AMP", "CLAUDE_CODE"]);
  expect(offers.map(({ missing }) => missing && MISSING[missing])).toEqual([null, "Not installed", "Not logged in"]);
  expect(offers.map(({ command }) => command)).toEqual([null, "npm i x", "x login"]);
});

test("the server's word for what is missing is taken", () => {
  const say = (state: FoundAgent["state"]) => missingOf(found("CODEX", { ready: state === "ready", state }));
  expect(["ready", "not_installed", "not_working", "not_logged_in"].map((state) => say(state as "ready"))).toEqual([
    null,
    "not_installed",
    "not_working",
    "not_logged_in",
  ]);
});

test("what is built in comes last, and a command of one's own only where there is one", () => {
  const executors = {
    ...EXECUTORS,
    SHELL: { GENIE: { SHELL: {} } },
    ACP: { GENIE: { ACP: {} }, APPROVALS: { ACP: { approvals: true } } },
  };
  const agents = [found("SHELL", { found: "built_in" }), found("CLAUDE_CODE", { ready: false })];
  const names = (offers: readonly { name: string }[]) => offers.map(({ name }) => name);
  expect(names(agentOffers(executors, agents)).at(-1)).toBe("SHELL");
  expect(names(agentOffers(executors, agents))).not.toContain("ACP");
  const mine = { ...executors, ACP: { GENIE: { ACP: {} }, MINE: { ACP: { base_command_override: "my-agent" } } } };
  const acp = agentOffers(mine, agents).find(({ executor }) => executor === "ACP");
  expect(acp?.variants).toEqual([{ id: "MINE", model: null }]);
});

test("an agent that can work is preferred to one that cannot", () => {
  const choice = (executor: string) => ({ executor, variant: null, model: null });
  const lost = found("CLAUDE_CODE", { ready: false });
  const shell = found("SHELL", { found: "built_in" });
  const executors = { ...EXECUTORS, SHELL: { GENIE: { SHELL: {} } } };
  const prefer = (agents: FoundAgent[], kept: string | null) =>
    preferredAgent(agentOffers(executors, agents), kept === null ? null : choice(kept), choice("CLAUDE_CODE")).executor;
  expect(prefer([lost, found("CODEX", {}), found("AMP", { ready: false })], null)).toBe("CODEX");
  expect(prefer([lost, found("CODEX", { ready: false }), found("AMP", {})], "CODEX")).toBe("AMP");
  expect(prefer([lost, found("CODEX", {}), shell], "SHELL")).toBe("SHELL");
  // With nothing but what is built in, the one that is meant is shown, with what it lacks.
  const none = [lost, found("CODEX", { ready: false }), found("AMP", { ready: false }), shell];
  expect(prefer(none, null)).toBe("CLAUDE_CODE");
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
  expect(agentLabel({ executor: "CLAUDE_CODE", variant: "APPROVALS" })).toBe("Claude Code · Approvals");
  expect(agentLabel("CLAUDE_CODE:APPROVALS")).toBe("Claude Code · Approvals");
  expect(agentLabel("CODEX:GENIE")).toBe("Codex");
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
