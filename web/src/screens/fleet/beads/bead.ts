// What a bead is to the page.
// Invariant: every bead is in exactly one section, whatever its tracker calls its state.

import type { Bead } from "@forge/client";

export const SECTIONS = ["parked", "ready", "in_progress", "blocked", "closed"] as const;
export type Section = (typeof SECTIONS)[number];

export const SECTION_TITLE: Record<Section, string> = {
  parked: "Waiting for you",
  ready: "Ready",
  in_progress: "In progress",
  blocked: "Blocked",
  closed: "Closed",
};

export function sectionOf(bead: Bead): Section {
  const status = bead.status ?? "open";
  if (status === "closed") return "closed";
  if (bead.standing.parked !== null) return "parked";
  if (status === "in_progress") return "in_progress";
  return status === "open" && bead.standing.ready ? "ready" : "blocked";
}

/** By section; inside it the most urgent first, then the oldest; closed ones by when they were closed. */
export function groupBeads(beads: readonly Bead[]): Map<Section, Bead[]> {
  const groups = new Map<Section, Bead[]>(SECTIONS.map((section) => [section, []]));
  for (const bead of beads) groups.get(sectionOf(bead))?.push(bead);
  for (const [section, group] of groups) {
    if (section === "closed") group.sort((a, b) => (b.closed_at ?? "").localeCompare(a.closed_at ?? ""));
    else {
      group.sort((a, b) => urgency(a) - urgency(b) || (a.created_at ?? "").localeCompare(b.created_at ?? ""));
    }
  }
  return groups;
}

/** 0 is the most urgent. */
export const urgency = (bead: Bead): number => bead.priority ?? 2;

/** Who has it: the name that Forge knows, else the tracker's, without what makes it unique. */
export function holderOf(bead: Bead): string | undefined {
  const worker = bead.standing.lease?.worker;
  if (worker) return worker.replace(/^attempt-([0-9a-f]{8})[0-9a-f-]+$/, "attempt $1");
  const [forge, , name] = bead.assignee?.split("/") ?? [];
  return (forge === "forge" && name ? name : bead.assignee) || undefined;
}

export const PRIORITIES = ["P0 · now", "P1 · high", "P2 · normal", "P3 · low", "P4 · some day"] as const;
export const TYPES = ["task", "bug", "feature", "chore", "docs", "epic"] as const;
