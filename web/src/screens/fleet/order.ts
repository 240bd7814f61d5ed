// The order of the lists: what needs a person comes first.

import type { Alert, AlertSeverity, ListedWorker } from "@forge/client";
import { type Standing, standingOf } from "./fleet-words";

const RANK: Record<Standing, number> = { failed: 0, critical: 1, degraded: 2, healthy: 3, foreign: 4, ended: 5 };

export function sortWorkers<W extends Pick<ListedWorker, "id" | "managed" | "phase" | "health">>(
  workers: readonly W[],
): W[] {
  const rank = (worker: W): number => RANK[standingOf(worker)];
  return workers.toSorted(
    (a, b) => rank(a) - rank(b) || a.id.localeCompare(b.id, undefined, { numeric: true, sensitivity: "base" }),
  );
}

export function countStandings(
  workers: readonly Pick<ListedWorker, "managed" | "phase" | "health">[],
): Record<Standing, number> {
  const counts: Record<Standing, number> = { failed: 0, critical: 0, degraded: 0, healthy: 0, ended: 0, foreign: 0 };
  for (const worker of workers) counts[standingOf(worker)] += 1;
  return counts;
}

const WEIGHT: Record<AlertSeverity, number> = { critical: 0, warning: 1, info: 2 };

/** Open ones that nobody has seen, by severity and then the newest; seen ones after them; what is over apart. */
export function sortAlerts(alerts: readonly Alert[]): { open: Alert[]; resolved: Alert[] } {
  const newest = (a: Alert, b: Alert): number => b.last_at.localeCompare(a.last_at);
  const open = alerts
    .filter((alert) => !alert.resolved_at)
    .sort(
      (a, b) =>
        Number(a.acknowledged_at !== null) - Number(b.acknowledged_at !== null) ||
        WEIGHT[a.severity] - WEIGHT[b.severity] ||
        newest(a, b),
    );
  return { open, resolved: alerts.filter((alert) => alert.resolved_at).sort(newest) };
}
