// Which agents there are, and which one is meant when nobody says: what the profiles offer joined with what was found on
// this machine. Invariant: a choice with variant `null` means the agent's own default.

import type { AgentState, ExecutorProfileId, FoundAgent } from "@forge/client";
import { keep, kept } from "../kept/kept";
import { agentName } from "../ui/format";

export interface AgentChoice {
  executor: string;
  variant: string | null;
  model: string | null;
}

export interface AgentVariant {
  /** `null` is the default one. */
  id: string | null;
  model: string | null;
}

export interface AgentOffer {
  executor: string;
  name: string;
  variants: readonly AgentVariant[];
  models: readonly string[];
  /** `undefined` while nobody knows. */
  ready: boolean | undefined;
  /** What keeps it from working, and the command that helps. */
  missing: Missing | null;
  command: string | null;
  /** Part of Forge: no model, for demos and scripts. */
  isBuiltIn: boolean;
}

export type Missing = Exclude<AgentState, "ready">;

export const MISSING: Record<Missing, string> = {
  not_installed: "Not installed",
  not_working: "Not working",
  not_logged_in: "Not logged in",
};

export function missingOf({ ready, state }: FoundAgent): Missing | null {
  return ready || state === "ready" ? null : state;
}

/** The one command that brings an agent nearer to working. */
export function nextStep(agent: FoundAgent): string | null {
  const missing = missingOf(agent);
  const step = missing === "not_logged_in" ? agent.log_in : missing && agent.install;
  return step || null;
}

const BUILT_IN: ReadonlySet<string> = new Set(["SCRIPTED", "SHELL"]);
/** Runs whatever command its profile names, and nothing without one. */
const CUSTOM = "ACP";

const DEFAULT_VARIANTS = ["GENIE", "DEFAULT"];

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

export function variantName(variant: string | null): string {
  if (variant === null || DEFAULT_VARIANTS.includes(variant)) return "Default";
  const words = variant
    .replace(/(?<=\d)_(?=\d)/g, ".")
    .replaceAll("_", " ")
    .toLowerCase()
    .replace(/\bgpt\b/, "GPT");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function variantsOf(executor: string, profiles: unknown): AgentVariant[] {
  if (!isRecord(profiles)) return [{ id: null, model: null }];
  const variants = Object.entries(profiles).flatMap(([name, profile]): AgentVariant[] => {
    const settings = isRecord(profile) ? profile[executor] : undefined;
    if (executor === CUSTOM && !(isRecord(settings) && settings.base_command_override)) return [];
    const model = isRecord(settings) && typeof settings.model === "string" ? settings.model : null;
    return [{ id: DEFAULT_VARIANTS.includes(name) ? null : name, model }];
  });
  if (executor === CUSTOM) return variants;
  // The default first; every agent has one, named or not.
  const first = variants.find(({ id }) => id === null) ?? { id: null, model: null };
  return [first, ...variants.filter(({ id }) => id !== null)];
}

/** Ready ones first, then those that are not, what is built in last; each group by name. */
export function agentOffers(
  executors: Record<string, unknown>,
  found: readonly FoundAgent[] | undefined,
  extraModels: readonly ExecutorProfileId[] = [],
): AgentOffer[] {
  const offers = Object.entries(executors).flatMap(([executor, profiles]): AgentOffer[] => {
    const agent = found?.find((each) => each.executor === executor);
    const variants = variantsOf(executor, profiles);
    if (variants.length === 0) return [];
    const named = extraModels.filter((each) => each.executor === executor).map(({ model }) => model ?? null);
    const models = [...variants.map(({ model }) => model), ...named].filter((model) => model !== null);
    const offer: AgentOffer = {
      executor,
      name: agent?.name ?? agentName(executor),
      variants,
      models: [...new Set(models)],
      ready: agent?.ready,
      missing: agent ? missingOf(agent) : null,
      command: agent ? nextStep(agent) : null,
      isBuiltIn: BUILT_IN.has(executor),
    };
    return [offer];
  });
  const rank = ({ ready, isBuiltIn }: AgentOffer): number => (isBuiltIn ? 2 : ready === false ? 1 : 0);
  return offers.sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
}

/**
 * The agent that is meant when nobody chose: what was chosen last in the project, else what the settings say, else any,
 * as long as it can work. What is built in takes nobody's place: it has no model.
 */
export function preferredAgent(
  offers: readonly AgentOffer[],
  kept: AgentChoice | null,
  configured: AgentChoice,
): AgentChoice {
  const wishes = kept ? [kept, configured] : [configured];
  const isUsable = ({ executor }: AgentChoice): boolean => {
    const offer = offers.find((each) => each.executor === executor);
    return offer !== undefined && offer.ready !== false;
  };
  const other = offers.find(({ ready, isBuiltIn }) => ready && !isBuiltIn);
  const any = other && { executor: other.executor, variant: other.variants[0]?.id ?? null, model: null };
  return wishes.find(isUsable) ?? any ?? wishes[0] ?? configured;
}

/** The name of an agent wherever it is named: `Claude Code · Plan · opus`. Also of the server's `CLAUDE_CODE:PLAN`. */
export function agentLabel(agent: string | ExecutorProfileId | AgentChoice): string {
  const { executor, variant, model } = choiceOf(typeof agent === "string" ? profileIn(agent) : agent);
  const parts = [agentName(executor), variant && variantName(variant), model];
  return parts.filter(Boolean).join(" · ");
}

function profileIn(text: string): ExecutorProfileId {
  const [executor = "", variant] = text.split(":");
  return { executor, variant: variant || null };
}

/** As the server takes it. */
export function profileOf({ executor, variant, model }: AgentChoice): ExecutorProfileId {
  return { executor, ...(variant && { variant }), ...(model && { model }) };
}

export function choiceOf({ executor, variant, model }: ExecutorProfileId | AgentChoice): AgentChoice {
  const named = variant && !DEFAULT_VARIANTS.includes(variant) ? variant : null;
  return { executor, variant: named, model: model ?? null };
}

export const rememberAgent = (projectId: string, choice: AgentChoice): void => keep(`agent.${projectId}`, choice);

/** What was chosen last in this project, if its agent is still there. */
export function rememberedAgent(projectId: string, executors: Record<string, unknown>): AgentChoice | null {
  const choice = kept(`agent.${projectId}`);
  if (!isRecord(choice) || typeof choice.executor !== "string") return null;
  const profiles = executors[choice.executor];
  if (profiles === undefined) return null;
  const word = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);
  const variant = word(choice.variant);
  const known = variant !== null && isRecord(profiles) && variant in profiles;
  return { executor: choice.executor, variant: known ? variant : null, model: word(choice.model) };
}
