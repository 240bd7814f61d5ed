// What the fleet's words mean to a person: every state, finding, alert and reason, once.

import type {
  AlertKind,
  AlertSeverity,
  HealthFinding,
  ListedWorker,
  RoutingOutcome,
  RoutingReason,
  WorkerPhase,
  WorkerTier,
} from "@forge/client";
import type { Tone } from "../../ui/badge";
import { agentName } from "../../ui/format";

interface Word {
  title: string;
  tone: Tone;
}

/** How a worker stands: its health while it works, else what became of it. */
export type Standing = "failed" | "critical" | "degraded" | "healthy" | "ended" | "foreign";

export const STANDING: Record<Standing, Word> = {
  failed: { title: "Failed", tone: "bad" },
  critical: { title: "Critical", tone: "bad" },
  degraded: { title: "Degraded", tone: "warn" },
  healthy: { title: "Healthy", tone: "good" },
  ended: { title: "Ended", tone: "neutral" },
  foreign: { title: "Not managed", tone: "neutral" },
};

export function standingOf(worker: Pick<ListedWorker, "managed" | "phase" | "health">): Standing {
  if (!worker.managed) return "foreign";
  if (worker.phase === "stopped" || worker.phase === "finished") return "ended";
  if (worker.phase === "failed") return "failed";
  return worker.health.level;
}

export const PHASE: Record<WorkerPhase, string> = {
  starting: "Starting",
  running: "Running",
  paused: "Paused",
  parked: "Parked",
  recovering: "Recovering",
  stopped: "Stopped",
  finished: "Finished",
  failed: "Failed",
};

export const TIER: Record<WorkerTier, Word> = {
  premium: { title: "Premium", tone: "review" },
  standard: { title: "Standard", tone: "info" },
  budget: { title: "Budget", tone: "neutral" },
  free: { title: "Free", tone: "neutral" },
};

/** What was found, and what a person can do about it. */
export const FINDING: Record<HealthFinding, { title: string; remedy: string }> = {
  process_gone: { title: "Its process is gone", remedy: "Look at its last output, then restart it." },
  agent_gone: { title: "Its agent ended and left only a shell", remedy: "Restart it, or stop it." },
  session_gone: { title: "Its tmux session is gone", remedy: "Restart it to get a new session." },
  stale: { title: "No output for a while", remedy: "Look at its screen; send a line or interrupt it." },
  task_stuck: { title: "Its bead makes no progress", remedy: "Send it a hint, or give it another bead." },
  memory_high: { title: "It uses too much memory", remedy: "Restart it if it keeps growing." },
  waits_for_permission: { title: "It waits for a permission", remedy: "Answer it: send y or n as a line." },
  rate_limited: {
    title: "Its provider's usage limit is reached",
    remedy: "It continues by itself when the limit ends.",
  },
  context_full: { title: "Its context is full", remedy: "Restart it, or send /compact if its agent knows that." },
  says_failed: {
    title: "Its status file says that it failed",
    remedy: "Look at its screen; restart it if it does not work.",
  },
  says_stopped: { title: "Its status file says that it stopped", remedy: "Look at its screen; stop it if it is done." },
  says_error: {
    title: "Its status file reports an error or cannot be read",
    remedy: "Look at its screen and at its status file.",
  },
  recovery_exhausted: { title: "It was restarted too often", remedy: "Find out why it ends before you restart it." },
};

export const ALERT: Record<AlertKind, string> = {
  worker_crashed: "Worker crashed",
  recovery_exhausted: "Recovery given up",
  worker_stale: "Worker silent",
  task_stuck: "Work stuck",
  waits_for_permission: "Waits for permission",
  context_full: "Context full",
  memory_high: "High memory",
  status_bad: "Status file",
  budget: "Budget",
  quota: "Usage limit",
  queue_empty: "Queue empty",
  bead_blocked: "Bead blocked",
  bead_parked: "Bead waits for you",
  stale_assignee: "Stale assignee",
  disk_low: "Disk low",
  auto_restart: "Restarted",
  worker_parked: "Worker parked",
  worker_recovered: "Worker recovered",
};

/** Alerts whose subject is a worker. */
export const OF_WORKERS: ReadonlySet<AlertKind> = new Set([
  "worker_crashed",
  "recovery_exhausted",
  "worker_stale",
  "task_stuck",
  "waits_for_permission",
  "context_full",
  "memory_high",
  "status_bad",
  "auto_restart",
  "worker_parked",
  "worker_recovered",
]);

export const SEVERITY: Record<AlertSeverity, Word> = {
  critical: { title: "Critical", tone: "bad" },
  warning: { title: "Warning", tone: "warn" },
  info: { title: "Info", tone: "info" },
};

export const REASON: Record<RoutingReason, { title: string; why: string }> = {
  priority_match: {
    title: "Priority",
    why: "The work is urgent or hard, so it got a model of the tier that this asks for.",
  },
  cost_optimization: { title: "Cost", why: "The work is not urgent, so it got a model of a cheap tier." },
  availability: { title: "Availability", why: "A worker of the tier was free at that moment." },
  specialized: { title: "Experience", why: "A worker that has done such work before was free." },
  fallback: { title: "Fallback", why: "No model of the wanted tier could be used, so the work went to another tier." },
};

export const OUTCOME: Record<RoutingOutcome, Word> = {
  closed: { title: "Closed", tone: "good" },
  released: { title: "Given back", tone: "warn" },
  parked: { title: "Waits for a person", tone: "bad" },
};

/** Routing names a model, or the agent that chooses one: `CLAUDE_CODE`, `CLAUDE_CODE:PLAN`. */
export function modelName(model: string): string {
  const [executor = "", ...rest] = model.split(":");
  if (!/^[A-Z][A-Z_]*$/.test(executor)) return model;
  return [agentName(executor), ...rest].join(" ");
}
