// The agents of a tier, as a list that can be changed.

import type { ExecutorProfileId } from "@forge/client";
import { Plus, X } from "lucide-react";
import { useState } from "react";
import { type AgentChoice, AgentPicker } from "../../../parts/agent-picker";
import { agentLabel } from "../../../parts/agents";
import { Button, IconButton } from "../../../ui/button";

interface Props {
  label: string;
  agents: readonly ExecutorProfileId[];
  onChange: (agents: ExecutorProfileId[]) => void;
}

const nameOf = (agent: ExecutorProfileId | AgentChoice): string => agentLabel(agent);

/** The agents of one tier, in the order in which they are tried. */
export function TierAgents({ label, agents, onChange }: Props) {
  const [choice, setChoice] = useState<AgentChoice>();
  const there = choice !== undefined && agents.some((agent) => nameOf(agent) === nameOf(choice));
  const add = (): void => {
    if (!choice) return;
    const { executor, variant, model } = choice;
    onChange([...agents, { executor, ...(variant && { variant }), ...(model && { model }) }]);
    setChoice(undefined);
  };
  return (
    <div className="flex flex-col gap-2">
      <div className="flex min-h-7 flex-wrap items-center gap-2">
        <span className="w-20 font-medium text-muted text-xs">{label}</span>
        <ul className="contents">
          {agents.map((agent, at) => (
            <li
              key={nameOf(agent)}
              className="inline-flex h-7 items-center gap-1 rounded-sm border border-line bg-canvas pl-2 text-xs"
            >
              {nameOf(agent)}
              <IconButton
                size="sm"
                label={`Remove ${nameOf(agent)} from ${label}`}
                onClick={() => onChange(agents.filter((_, other) => other !== at))}
              >
                <X className="size-3.5" aria-hidden />
              </IconButton>
            </li>
          ))}
        </ul>
        {!choice && (
          <Button
            size="sm"
            weight="ghost"
            icon={<Plus className="size-4" aria-hidden />}
            aria-label={`Add an agent to ${label}`}
            onClick={() => setChoice({ executor: "CLAUDE_CODE", variant: null, model: null })}
          >
            Add
          </Button>
        )}
      </div>
      {choice && (
        <div className="flex flex-wrap items-end gap-2 rounded-md border border-line bg-canvas p-2">
          <AgentPicker projectId={undefined} value={choice} onChange={setChoice} />
          <Button weight="primary" disabled={there} onClick={add}>
            {there ? "Added" : "Add"}
          </Button>
          <Button weight="ghost" onClick={() => setChoice(undefined)}>
            Cancel
          </Button>
        </div>
      )}
    </div>
  );
}
