// How attempts are started: how many, by whom, from which branch, within which limits. The same for new tasks and for
// further attempts of old ones.

import { ChevronRight, CircleCheck, Minus, Plus } from "lucide-react";
import { type ReactNode, useState } from "react";
import { IconButton } from "../../ui/button";
import { cx } from "../../ui/class";
import { Switch, TextField } from "../../ui/field";
import { count } from "../../ui/format";
import { Problem } from "../../ui/state";
import { AgentNeeds } from "../agent-needs";
import { AgentPicker, useDefaultAgent } from "../agent-picker";
import type { AgentChoice } from "../agents";
import { BranchPicker } from "./branch-picker";
import type { Failures } from "./launch";
import { type Made, MOST_ATTEMPTS, type StartForm, withAttempts } from "./task-form";

interface Props {
  projectId: string;
  form: StartForm;
  /** Those of the form, each named. */
  agents: readonly AgentChoice[];
  onChange: (change: Partial<StartForm>) => void;
  made: Made | null;
  failures: Failures;
  budgetFlaw?: string;
  /** An issue is always worked on in a worktree. */
  fixedWorktree?: boolean;
}

/** The agents of all rows, with the default where nobody chose; never `except`, if another can work. */
export function useAgents(projectId: string, { agents }: StartForm, except?: string): AgentChoice[] {
  const standard = useDefaultAgent(projectId, except);
  return agents.map((agent) => agent ?? standard);
}

export function StartFields(props: Props) {
  const { projectId, form, agents, onChange, made, failures, budgetFlaw, fixedWorktree } = props;
  const several = agents.length > 1;
  return (
    <section aria-label="Start" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        {!several && (
          <AgentPicker
            projectId={projectId}
            value={agents[0] ?? { executor: "", variant: null, model: null }}
            onChange={(agent) => onChange({ agents: [agent] })}
          />
        )}
        <BranchPicker
          projectId={projectId}
          value={form.base}
          onChange={(base) => onChange({ base })}
          disabled={made !== null}
        />
        <Stepper
          value={agents.length}
          disabled={made !== null || !form.useWorktree}
          onChange={(wanted) => onChange({ agents: withAttempts({ ...form, agents }, wanted).agents })}
        />
      </div>
      {!several && agents[0] && <AgentNeeds executor={agents[0].executor} />}
      {several && (
        <ol className="flex flex-col gap-1.5">
          {agents.map((agent, row) => (
            <AgentRow
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other identity and are not moved
              key={row}
              row={row}
              projectId={projectId}
              agent={agent}
              started={Boolean(made?.attempts[row])}
              failure={failures.get(row)}
              onChange={(next) => onChange({ agents: agents.map((each, at) => (at === row ? next : each)) })}
            />
          ))}
        </ol>
      )}
      <More>
        <TextField
          label="Budget per attempt (USD)"
          hint="Stops the agent at this amount."
          inputMode="decimal"
          placeholder="No limit"
          value={form.budget}
          error={budgetFlaw}
          disabled={made !== null}
          onChange={(event) => onChange({ budget: event.target.value })}
        />
        <div className="flex flex-col gap-3 sm:pt-5">
          <Switch
            label="Open a PR when finished"
            checked={form.autoPr}
            disabled={made !== null}
            onChange={(autoPr) => onChange({ autoPr })}
          />
          {!fixedWorktree && (
            <Switch
              label="Work in a separate worktree"
              hint={
                form.useWorktree ? undefined : "The agent works in the repository itself; the task is not on the board."
              }
              checked={form.useWorktree}
              disabled={made !== null}
              // Two agents in one directory would undo each other's work.
              onChange={(useWorktree) =>
                onChange(useWorktree ? { useWorktree } : { useWorktree, agents: agents.slice(0, 1) })
              }
            />
          )}
        </div>
      </More>
    </section>
  );
}

function More({ children }: { children: ReactNode }) {
  const [open, setOpen] = useState(false);
  return (
    <div>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="-ml-1 flex h-7 items-center gap-1 rounded-sm px-1 text-muted text-sm hover:text-ink pointer-coarse:h-11"
      >
        <ChevronRight className={cx("size-4 transition-transform", open && "rotate-90")} aria-hidden />
        More
      </button>
      {open && <div className="grid gap-4 pt-2 sm:grid-cols-2">{children}</div>}
    </div>
  );
}

interface StepperProps {
  value: number;
  disabled: boolean;
  onChange: (value: number) => void;
}

function Stepper({ value, disabled, onChange }: StepperProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would bring a frame and a legend
    <div
      role="group"
      aria-label="Attempts"
      className="flex h-8 items-center rounded-md border border-line bg-surface shadow-card pointer-coarse:h-11"
    >
      <IconButton
        label="Fewer attempts"
        size="sm"
        disabled={disabled || value <= 1}
        onClick={() => onChange(value - 1)}
      >
        <Minus className="size-3.5" aria-hidden />
      </IconButton>
      <span aria-live="polite" className="min-w-20 text-center text-sm tabular">
        {count(value, "attempt")}
      </span>
      <IconButton
        label="More attempts"
        size="sm"
        disabled={disabled || value >= MOST_ATTEMPTS}
        onClick={() => onChange(value + 1)}
      >
        <Plus className="size-3.5" aria-hidden />
      </IconButton>
    </div>
  );
}

interface RowProps {
  row: number;
  projectId: string;
  agent: AgentChoice;
  started: boolean;
  failure: string | undefined;
  onChange: (agent: AgentChoice) => void;
}

function AgentRow({ row, projectId, agent, started, failure, onChange }: RowProps) {
  return (
    <li className="flex flex-wrap items-center gap-x-2 gap-y-1">
      <span className="w-4 shrink-0 text-right text-faint text-xs tabular" aria-hidden>
        {row + 1}
      </span>
      <AgentPicker
        projectId={projectId}
        label={`Agent of attempt ${row + 1}`}
        value={agent}
        onChange={onChange}
        disabled={started}
        remember={row === 0}
        className="w-64 max-w-full flex-1 justify-start sm:flex-none"
      />
      {!started && <AgentNeeds executor={agent.executor} />}
      {started && (
        <span className="flex items-center gap-1 text-good text-xs">
          <CircleCheck className="size-4" aria-hidden />
          Started
        </span>
      )}
      {failure && (
        <Problem look="xs" className="w-full pl-6">
          Attempt {row + 1} did not start: {failure}
        </Problem>
      )}
    </li>
  );
}
