// Which agents there are, and which one is meant when nobody says: what the profiles offer joined with what was found on
// this machine. Invariant: a choice with variant `null` means the agent's own default.

import type { ExecutorProfileId, FoundAgent } from "@forge/client";
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
  /** Why it is not ready, and what to do. */
  reason: string | null;
}

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
  const variants = Object.entries(profiles).map(([name, profile]): AgentVariant => {
    const settings = isRecord(profile) ? profile[executor] : undefined;
    const model = isRecord(settings) && typeof settings.model === "string" ? settings.model : null;
    return { id: DEFAULT_VARIANTS.includes(name) ? null : name, model };
  });
  // The default first; every agent has one, named or not.
  const first = variants.find(({ id }) => id === null) ?? { id: null, model: null };
  return [first, ...variants.filter(({ id }) => id !== null)];
}

function reasonOf({ ready, found, install, log_in }: FoundAgent): string | null {
  if (ready) return null;
  const [what, command] = found === null ? ["Not installed.", install] : ["Not logged in.", log_in];
  return command ? `${what} Run: ${command}` : what;
}

/** Ready ones first, each group by name; without knowledge of the machine, all by name. */
export function agentOffers(
  executors: Record<string, unknown>,
  found: readonly FoundAgent[] | undefined,
  extraModels: readonly ExecutorProfileId[] = [],
): AgentOffer[] {
  const offers = Object.entries(executors).map(([executor, profiles]): AgentOffer => {
    const agent = found?.find((each) => each.executor === executor);
    const variants = variantsOf(executor, profiles);
    const named = extraModels.filter((each) => each.executor === executor).map(({ model }) => model ?? null);
    const models = [...variants.map(({ model }) => model), ...named].filter((model) => model !== null);
    return {
      executor,
      name: agent?.name ?? agentName(executor),
      variants,
      models: [...new Set(models)],
      ready: agent?.ready,
      reason: agent ? reasonOf(agent) : null,
    };
  });
  const rank = ({ ready }: AgentOffer): number => (ready === false ? 1 : 0);
  return offers.sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
}

/** `Claude Code · Plan · opus`. */
export function agentLabel({ executor, variant, model }: AgentChoice): string {
  const parts = [agentName(executor), variant && variantName(variant), model];
  return parts.filter(Boolean).join(" · ");
}

/** As the server takes it. */
export function profileOf({ executor, variant, model }: AgentChoice): ExecutorProfileId {
  return { executor, ...(variant && { variant }), ...(model && { model }) };
}

export function choiceOf({ executor, variant, model }: ExecutorProfileId): AgentChoice {
  const named = variant && !DEFAULT_VARIANTS.includes(variant) ? variant : null;
  return { executor, variant: named, model: model ?? null };
}

const keyOf = (projectId: string): string => `forge.agent.${projectId}`;

export function rememberAgent(projectId: string, choice: AgentChoice): void {
  localStorage.setItem(keyOf(projectId), JSON.stringify(choice));
}

/** What was chosen last in this project, if its agent is still there. */
export function rememberedAgent(projectId: string, executors: Record<string, unknown>): AgentChoice | null {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(keyOf(projectId)) ?? "null");
    if (!isRecord(kept) || typeof kept.executor !== "string") return null;
    const profiles = executors[kept.executor];
    if (profiles === undefined) return null;
    const word = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);
    const variant = word(kept.variant);
    const known = variant !== null && isRecord(profiles) && variant in profiles;
    return { executor: kept.executor, variant: known ? variant : null, model: word(kept.model) };
  } catch {
    return null;
  }
}
