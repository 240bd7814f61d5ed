// The processes of an attempt: setup, agent, cleanup and dev server, each with its times and what came of it.

import type { ExecutionProcess, TaskAttempt } from "@forge/client";
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Cog, ScrollText, Square } from "lucide-react";
import { forge } from "../../../api/forge";
import { agentLabel } from "../../../parts/agents";
import { Badge, type Tone } from "../../../ui/badge";
import { Button, buttonClass } from "../../../ui/button";
import { Ago, Elapsed } from "../../../ui/clock";
import { duration } from "../../../ui/format";
import { Empty, Waiting } from "../../../ui/state";
import { durationOf, profileOf, REASON } from "../attempt-standing";
import { DevServer } from "./dev-server";

interface Props {
  attempt: TaskAttempt;
  processes: readonly ExecutionProcess[];
  isWaiting: boolean;
}

const STATE: Record<ExecutionProcess["status"], { word: string; tone: Tone }> = {
  running: { word: "Running", tone: "accent" },
  completed: { word: "Finished", tone: "good" },
  failed: { word: "Failed", tone: "bad" },
  killed: { word: "Stopped", tone: "neutral" },
};

const HEAD = "px-3 py-2 text-left font-medium text-faint text-xs";
const CELL = "h-9 px-3 py-1 align-middle";

export function ProcessesView({ attempt, processes, isWaiting }: Props) {
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      <div className="mx-auto flex w-full max-w-5xl flex-col gap-6 p-4">
        <DevServer attempt={attempt} processes={processes} />
        <section aria-labelledby="processes-title">
          <h2 id="processes-title" className="mb-2 font-medium text-sm">
            Processes
          </h2>
          {processes.length === 0 ? (
            isWaiting ? (
              <Waiting what="Loading the processes" />
            ) : (
              <Empty icon={<Cog aria-hidden />} title="Nothing has run yet" />
            )
          ) : (
            <div className="overflow-x-auto rounded-md border border-line bg-surface">
              <table className="w-full text-sm">
                <thead>
                  <tr className="border-line border-b">
                    <th className={HEAD}>What</th>
                    <th className={HEAD}>State</th>
                    <th className={`${HEAD} hidden sm:table-cell`}>Started</th>
                    <th className={`${HEAD} text-right!`}>Took</th>
                    <th className={`${HEAD} hidden md:table-cell`}>Commits</th>
                    <th className={HEAD}>
                      <span className="sr-only">Actions</span>
                    </th>
                  </tr>
                </thead>
                <tbody className="divide-y divide-line">
                  {processes.toReversed().map((process) => (
                    <Process key={process.id} attempt={attempt} process={process} />
                  ))}
                </tbody>
              </table>
            </div>
          )}
        </section>
      </div>
    </div>
  );
}

function Process({ attempt, process }: { attempt: TaskAttempt; process: ExecutionProcess }) {
  const { status, exit_code, before_head_commit: before, after_head_commit: after } = process;
  const profile = profileOf(process);
  const took = durationOf(process);
  const { word, tone } = STATE[status];
  return (
    <tr className="hover:bg-hover">
      <td className={CELL}>
        <span className="whitespace-nowrap">{REASON[process.run_reason]}</span>
        {profile && <span className="hidden text-faint sm:inline"> {agentLabel(profile)}</span>}
      </td>
      <td className={CELL}>
        <Badge tone={tone}>{exit_code ? `${word} with ${exit_code}` : word}</Badge>
      </td>
      <td className={`${CELL} hidden whitespace-nowrap text-muted sm:table-cell`}>
        <Ago time={process.started_at} />
      </td>
      <td className={`${CELL} whitespace-nowrap text-right text-muted tabular`}>
        {took === undefined ? <Elapsed since={process.started_at} /> : duration(took)}
      </td>
      <td className={`${CELL} hidden whitespace-nowrap font-mono text-faint text-xs md:table-cell`}>
        {before?.slice(0, 7)}
        {after && after !== before && ` → ${after.slice(0, 7)}`}
      </td>
      <td className={`${CELL} whitespace-nowrap text-right`}>
        <span className="inline-flex items-center gap-1">
          {status === "running" && <StopProcess id={process.id} />}
          <Link
            to="/projects/$projectId/tasks/$taskId/attempts/$attemptId"
            params={{ projectId: attempt.project_id, taskId: attempt.task_id, attemptId: attempt.id }}
            search={{ view: "raw", process: process.id }}
            className={buttonClass("ghost", "sm")}
          >
            <ScrollText className="size-4" aria-hidden />
            Log
          </Link>
        </span>
      </td>
    </tr>
  );
}

export function StopProcess({ id }: { id: string }) {
  const stop = useMutation({ mutationFn: () => forge.stopExecutionProcess(id) });
  return (
    <Button
      size="sm"
      busy={stop.isPending}
      icon={<Square className="size-3.5" aria-hidden />}
      onClick={() => stop.mutate()}
    >
      Stop
    </Button>
  );
}
