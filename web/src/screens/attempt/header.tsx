// The head of the attempt: what it is about, which of the task's attempts, how it stands, what it costs.

import type { ExecutionProcess, ListedAttempt, TaskAttempt } from "@forge/client";
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowLeft, Square } from "lucide-react";
import type { ReactNode } from "react";
import { forge } from "../../api/forge";
import { tokensOf } from "../../parts/tokens";
import { bind } from "../../shell/action";
import { CommandButton } from "../../shell/command";
import { useCommands } from "../../shell/commands";
import { Dot } from "../../ui/badge";
import { buttonClass } from "../../ui/button";
import { Elapsed, useNow } from "../../ui/clock";
import { duration, money, short, timeOfDay } from "../../ui/format";
import { Tooltip } from "../../ui/tooltip";
import { ATTEMPT } from "./actions";
import { isAtWork, standingOf } from "./attempt-standing";
import { AttemptSwitch } from "./attempt-switch";

interface Props {
  title: string;
  attempt: TaskAttempt;
  attempts: readonly ListedAttempt[];
  processes: readonly ExecutionProcess[];
  waiting: number;
  onNewAttempt: () => void;
  menu: ReactNode;
}

export function AttemptHeader({ title, attempt, attempts, processes, waiting, onNewAttempt, menu }: Props) {
  const { project_id: projectId, task_id: taskId } = attempt;
  return (
    <header className="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-1 px-4 pt-2.5 pb-1 short:pt-1 short:pb-0">
      <div className="flex min-w-0 basis-full items-center gap-2 lg:basis-auto lg:flex-1 short:basis-40 short:flex-1">
        <Tooltip label={ATTEMPT.back.label} keys={ATTEMPT.back.keys}>
          <Link
            to="/projects/$projectId/tasks"
            params={{ projectId }}
            aria-label={ATTEMPT.back.label}
            className={`${buttonClass("ghost", "sm")} -ml-1.5 size-7 px-0! pointer-coarse:size-11`}
          >
            <ArrowLeft className="size-4" aria-hidden />
          </Link>
        </Tooltip>
        <h1 className="min-w-0 truncate font-semibold text-md">
          <Link
            to="/projects/$projectId/tasks/$taskId"
            params={{ projectId, taskId }}
            search={{ stay: true }}
            title={title}
            className="rounded-sm hover:underline hover:underline-offset-4"
          >
            {title}
          </Link>
        </h1>
      </div>
      <div className="flex min-w-0 flex-1 flex-wrap items-center gap-x-4 gap-y-1 lg:flex-none short:flex-none">
        <AttemptSwitch attempt={attempt} attempts={attempts} onNew={onNewAttempt} />
        <StandingMark attempt={attempt} processes={processes} waiting={waiting} />
        <Spent attempt={attempt} />
      </div>
      <div className="flex shrink-0 items-center gap-1">
        <StopButton attempt={attempt} processes={processes} />
        {menu}
      </div>
    </header>
  );
}

function StandingMark({ attempt, processes, waiting }: Pick<Props, "attempt" | "processes" | "waiting">) {
  const { word, tone, isAlive, since, tookMs, until } = standingOf(attempt.status, processes, waiting, useNow());
  return (
    <p className="flex items-center gap-2 text-sm">
      <Dot tone={tone} alive={isAlive} />
      <span role="status">{word}</span>
      {/* Outside of what is read out: it changes every second. */}
      <span className="text-faint tabular">
        {since && <Elapsed since={since} />}
        {!since && tookMs !== undefined && duration(tookMs)}
        {until && `until ${timeOfDay(until)}`}
      </span>
    </p>
  );
}

/** The share of the budget from which on it is worth a colour. */
const NEAR_BUDGET = 0.8;

export function Spent({ attempt }: { attempt: TaskAttempt }) {
  const { input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens, cost_usd, max_cost_usd } = attempt;
  const cached = cache_read_tokens ?? 0;
  const tokens = tokensOf({
    input_tokens: input_tokens ?? 0,
    output_tokens: output_tokens ?? 0,
    cache_read_tokens: cached,
    cache_write_tokens: cache_creation_tokens ?? 0,
  });
  if (tokens === 0 && !cost_usd && max_cost_usd === undefined) return null;
  const isNear = max_cost_usd !== undefined && (cost_usd ?? 0) >= max_cost_usd * NEAR_BUDGET;
  const detail = [
    `${short(input_tokens ?? 0)} in`,
    `${short(output_tokens ?? 0)} out`,
    cached ? `${short(cached)} from the cache` : undefined,
    cache_creation_tokens ? `${short(cache_creation_tokens)} into the cache` : undefined,
  ].filter(Boolean);
  return (
    <p className="flex items-center gap-2 text-faint text-sm tabular" title={`Tokens: ${detail.join(", ")}`}>
      <span>
        {short(tokens)} tokens
        {cached > 0 && ` (${Math.round((cached / tokens) * 100)}% cached)`}
      </span>
      {(cost_usd !== undefined || max_cost_usd !== undefined) && (
        <span className={isNear ? "text-warn" : undefined}>
          {money(cost_usd ?? 0)}
          {max_cost_usd !== undefined && ` of ${money(max_cost_usd)}`}
        </span>
      )}
    </p>
  );
}

function StopButton({ attempt, processes }: Pick<Props, "attempt" | "processes">) {
  const stop = useMutation({ mutationFn: () => forge.stopTaskAttemptExecution(attempt.id) });
  const stops = bind(ATTEMPT.stop, () => stop.mutate(), isAtWork(processes) && !stop.isPending);
  useCommands([stops]);
  if (!stops.enabled && !stop.isPending) return null;
  return (
    <CommandButton of={stops} size="sm" busy={stop.isPending} icon={<Square className="size-3.5" aria-hidden />}>
      Stop
    </CommandButton>
  );
}
