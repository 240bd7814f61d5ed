// How an attempt stands, in a word, from its processes and the questions that wait.

import type { AttemptStatus, ExecutionProcess } from "@forge/client";
import { ATTEMPT_STATE, isLive } from "../../parts/status";
import type { Tone } from "../../ui/badge";

export interface Standing {
  word: string;
  tone: Tone;
  /** Something is running. */
  isAlive: boolean;
  /** Since when it runs. */
  since?: string;
  /** How long the last turn took. */
  tookMs?: number;
  /** Until when it waits for its provider. */
  until?: string;
}

const AT_WORK: Record<ExecutionProcess["run_reason"], string> = {
  setupscript: "Setting up",
  codingagent: "Running",
  cleanupscript: "Cleaning up",
  devserver: "Running",
};

export const REASON: Record<ExecutionProcess["run_reason"], string> = {
  setupscript: "Setup script",
  codingagent: "Agent",
  cleanupscript: "Cleanup script",
  devserver: "Dev server",
};

/** The dev server runs beside the work and says nothing about it. */
export const isWork = (process: ExecutionProcess): boolean => process.run_reason !== "devserver";

export const isAtWork = (processes: readonly ExecutionProcess[]): boolean =>
  processes.some((process) => isWork(process) && process.status === "running");

export function standingOf(
  status: AttemptStatus,
  processes: readonly ExecutionProcess[],
  waiting: number,
  now: number,
): Standing {
  const work = processes.filter(isWork);
  const running = work.find((process) => process.status === "running");
  const last = work.at(-1);
  if (waiting > 0 && running)
    return { word: "Waiting for you", tone: "warn", isAlive: true, since: running.started_at };
  // A run that is parked counts as running; nothing of it is alive until it continues as another one.
  if (running?.parked_until) {
    const isAhead = Date.parse(running.parked_until) > now;
    return { word: "Parked", tone: "warn", isAlive: false, until: isAhead ? running.parked_until : undefined };
  }
  if (running) {
    return { word: AT_WORK[running.run_reason], tone: "accent", isAlive: true, since: running.started_at };
  }
  if (last === undefined) return { ...named(status), isAlive: isLive(status) };
  const tookMs = durationOf(last);
  if (last.status === "completed") {
    if (processes.some((process) => process.commit_error)) {
      return { word: "Finished, not committed", tone: "bad", isAlive: false, tookMs };
    }
    const word = last.unverified ? "Finished, unverified" : "Finished";
    return { word, tone: last.unverified ? "warn" : "good", isAlive: false, tookMs };
  }
  if (last.status === "failed") return { word: failedWord(last), tone: "bad", isAlive: false, tookMs };
  return { word: "Stopped", tone: "neutral", isAlive: false, tookMs };
}

const named = (status: AttemptStatus) => ({ word: ATTEMPT_STATE[status].title, tone: ATTEMPT_STATE[status].tone });

function failedWord({ run_reason, exit_code }: ExecutionProcess): string {
  const what = run_reason === "codingagent" ? "Failed" : `${REASON[run_reason]} failed`;
  return exit_code === null || exit_code < 0 ? what : `${what} (exit code ${exit_code})`;
}

export function durationOf({ started_at, completed_at }: ExecutionProcess): number | undefined {
  return completed_at === null ? undefined : Date.parse(completed_at) - Date.parse(started_at);
}

/** What the process was asked, if it was an agent. */
export function promptOf({ executor_action }: ExecutionProcess): string | undefined {
  // Attempts that came from elsewhere may have an action of another shape.
  const step = executor_action?.typ;
  return step && "prompt" in step ? step.prompt : undefined;
}

/** The agent that a process was, as the server names it. */
export function profileOf({ executor_action }: ExecutionProcess) {
  const step = executor_action?.typ;
  return step && "executor_profile_id" in step ? step.executor_profile_id : undefined;
}
