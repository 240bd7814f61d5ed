// Chooses an agent, a variant of it and a model. The last choice is kept per project.

import { useQuery } from "@tanstack/react-query";
import { Bot, ChevronDown, TriangleAlert } from "lucide-react";
import { useId, useMemo } from "react";
import { agentsQuery, infoQuery } from "../api/queries/settings";
import { Button } from "../ui/button";
import { cx } from "../ui/class";
import { inputClass } from "../ui/field";
import { agentName } from "../ui/format";
import { Picker, type PickerGroup, type PickerItem } from "../ui/picker";
import {
  type AgentChoice,
  type AgentOffer,
  agentLabel,
  agentOffers,
  choiceOf,
  MISSING,
  preferredAgent,
  rememberAgent,
  rememberedAgent,
  variantName,
} from "./agents";

export type { AgentChoice } from "./agents";

interface Props {
  projectId: string | undefined;
  value: AgentChoice;
  onChange: (choice: AgentChoice) => void;
  /** What the choice is for, read out. */
  label?: string;
  disabled?: boolean;
  size?: "sm" | "md";
  /** False for choices that should not become the project's next default. */
  remember?: boolean;
  className?: string;
}

export function useOffers(): AgentOffer[] {
  const { data: info } = useQuery(infoQuery());
  const { data: found } = useQuery(agentsQuery());
  return useMemo(() => {
    const models = Object.values(info?.config.fleet.models ?? {}).flat();
    return agentOffers(info?.executors ?? {}, found, models);
  }, [info, found]);
}

/** The agent that is meant when nobody chose: one that can work, if there is one, and another one than `except`. */
export function useDefaultAgent(projectId?: string, except?: string): AgentChoice {
  const { data: info } = useQuery(infoQuery());
  const offers = useOffers();
  return useMemo(() => {
    const kept = projectId && info ? rememberedAgent(projectId, info.executors) : null;
    const given = choiceOf(info?.config.executor_profile ?? { executor: "CLAUDE_CODE" });
    const others = offers.filter(({ executor }) => executor !== except);
    return preferredAgent(others, kept, given);
  }, [info, offers, projectId, except]);
}

const idOf = (executor: string, variant: string | null): string => `${executor}:${variant ?? ""}`;

function itemsOf({ executor, name, variants, ready, missing }: AgentOffer): PickerItem[] {
  return variants.map(({ id, model }, at) => ({
    value: idOf(executor, id),
    label: at === 0 ? name : variantName(id),
    words: `${name} ${executor} ${variantName(id)} ${model ?? ""}`,
    note: at === 0 && missing ? MISSING[missing] : undefined,
    beside: model ? <span className="truncate text-faint text-xs">{model}</span> : undefined,
    indented: at > 0,
    // Agents that cannot run take one row each.
    hidden: at > 0 && ready === false,
  }));
}

function groupsOf(offers: readonly AgentOffer[]): PickerGroup[] {
  const agents = offers.filter(({ isBuiltIn }) => !isBuiltIn);
  const usable = agents.filter(({ ready }) => ready !== false);
  const others = agents.filter(({ ready }) => ready === false);
  const builtIn = offers.filter(({ isBuiltIn }) => isBuiltIn);
  return [
    { heading: "Agents", items: usable.flatMap(itemsOf) },
    { heading: "Not ready", items: others.flatMap(itemsOf) },
    { heading: "Built in (demo)", items: builtIn.flatMap(itemsOf) },
  ];
}

export function AgentPicker({
  projectId,
  value,
  onChange,
  label = "Agent",
  disabled,
  size = "md",
  remember = true,
  className,
}: Props) {
  const offers = useOffers();
  const groups = useMemo(() => groupsOf(offers), [offers]);
  const offer = offers.find(({ executor }) => executor === value.executor);
  const take = (choice: AgentChoice): void => {
    if (remember && projectId) rememberAgent(projectId, choice);
    onChange(choice);
  };
  const choose = (id: string): void => {
    const [executor = "", variant] = id.split(":");
    // A model belongs to its agent.
    const model = executor === value.executor ? value.model : null;
    take({ executor, variant: variant || null, model });
  };
  const details = [value.variant && variantName(value.variant), value.model].filter(Boolean).join(" · ");
  const trigger = (
    <Button
      size={size}
      disabled={disabled}
      aria-label={[`${label}: ${agentLabel(value)}`, offer?.missing && MISSING[offer.missing].toLowerCase()]
        .filter(Boolean)
        .join(", ")}
      className={cx("min-w-0 shrink", className)}
      icon={
        offer?.ready === false ? (
          <TriangleAlert className="size-4 shrink-0 text-warn" aria-hidden />
        ) : (
          <Bot className="size-4 shrink-0 text-faint" aria-hidden />
        )
      }
    >
      <span className="truncate">{offer?.name ?? agentName(value.executor)}</span>
      {details && <span className="truncate text-faint">{details}</span>}
      <ChevronDown className="ml-auto size-3.5 shrink-0 text-faint" aria-hidden />
    </Button>
  );
  return (
    <Picker
      label={label}
      trigger={trigger}
      groups={groups}
      value={idOf(value.executor, value.variant)}
      onChange={choose}
      placeholder="Find an agent or a variant"
      footer={(close) => (
        <ModelField
          model={value.model}
          models={offer?.models ?? []}
          onChange={(model) => take({ ...value, model })}
          onDone={close}
        />
      )}
    />
  );
}

interface ModelProps {
  model: string | null;
  models: readonly string[];
  onChange: (model: string | null) => void;
  onDone: () => void;
}

function ModelField({ model, models, onChange, onDone }: ModelProps) {
  const id = useId();
  return (
    <div className="flex items-center gap-2 border-line border-t p-2">
      <label htmlFor={id} className="shrink-0 pl-1 text-muted text-xs">
        Model
      </label>
      <input
        id={id}
        list={`${id}-models`}
        value={model ?? ""}
        placeholder="The variant's own"
        autoComplete="off"
        spellCheck={false}
        className={cx(inputClass, "h-7")}
        onChange={(event) => onChange(event.target.value.trim() || null)}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          onDone();
        }}
      />
      <datalist id={`${id}-models`}>
        {models.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </div>
  );
}
