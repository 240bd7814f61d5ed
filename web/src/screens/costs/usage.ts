// What was used, made ready to be shown: groups by name, their days, and the file that is taken along.

import type { UsageGroup, UsageReport } from "@forge/client";
import { tokensOf } from "../../parts/tokens";
import { agentName } from "../../ui/format";
import type { Series } from "./plot-scale";

export const GROUPINGS = ["model", "agent", "project"] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** The server's word. */
export const WIRE: Record<Grouping, "model" | "executor" | "project"> = {
  model: "model",
  agent: "executor",
  project: "project",
};

/** Other days take the place of what is shown without emptying it; another grouping has other names and cannot. */
export const keptFor =
  (groupBy: string) =>
  (before: UsageReport | undefined, query?: { queryKey: readonly unknown[] }): UsageReport | undefined =>
    query?.queryKey[1] === groupBy ? before : undefined;

export const RANGES = [7, 30, 90] as const;

/** The last `days` days of UTC, today included. */
export function periodOf(days: number, now = Date.now()): { from: string; to: string } {
  const day = (at: number): string => new Date(at).toISOString().slice(0, 10);
  return { from: day(now - (days - 1) * 86_400_000), to: day(now) };
}

export function keyOf(group: UsageGroup, by: Grouping): string {
  return { model: group.model, agent: group.executor, project: group.project_id }[by] ?? "";
}

export type Names = (key: string) => string;

export function namesOf(by: Grouping, projects: readonly { id: string; name: string }[]): Names {
  if (by === "project")
    return (key) => projects.find(({ id }) => id === key)?.name ?? (key ? "Deleted project" : "No project");
  if (by === "agent") return (key) => (key ? agentName(key) : "Unknown agent");
  return (key) => key || "Unknown model";
}

/** The cost of each group on each day. */
export function seriesOf(groups: readonly UsageGroup[], days: readonly string[], by: Grouping, names: Names): Series[] {
  const column = new Map(days.map((day, at) => [day, at]));
  const series = new Map<string, Series>();
  for (const group of groups) {
    const at = column.get(group.day ?? "");
    if (at === undefined || !group.cost_usd) continue;
    const key = keyOf(group, by);
    const mine = series.get(key) ?? { key, title: names(key), values: days.map(() => 0), total: 0 };
    mine.values[at] = (mine.values[at] ?? 0) + group.cost_usd;
    mine.total += group.cost_usd;
    series.set(key, mine);
  }
  return [...series.values()].sort((a, b) => b.total - a.total);
}

/** Dearest first; what has no price by its tokens. */
export function sortGroups(groups: readonly UsageGroup[]): UsageGroup[] {
  return groups.toSorted((a, b) => (b.cost_usd ?? 0) - (a.cost_usd ?? 0) || tokensOf(b) - tokensOf(a));
}

/** A spreadsheet must not take a name that an agent made up for a formula. */
function cell(value: string | number | null): string {
  if (typeof value === "number") return String(value);
  if (value === null) return "";
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function toCsv(groups: readonly UsageGroup[], by: Grouping, names: Names): string {
  const head = [
    "day",
    by,
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "runs",
    "cost_usd",
    "unpriced_tokens",
  ];
  const rows = groups
    .toSorted((a, b) => (a.day ?? "").localeCompare(b.day ?? ""))
    .map((group) => [
      group.day ?? "",
      names(keyOf(group, by)),
      group.input_tokens,
      group.output_tokens,
      group.cache_read_tokens,
      group.cache_write_tokens,
      group.reasoning_tokens,
      group.runs,
      group.cost_usd,
      group.unpriced_tokens,
    ]);
  return [head, ...rows]
    .map((row) => row.map(cell).join(","))
    .join("\r\n")
    .concat("\r\n");
}
