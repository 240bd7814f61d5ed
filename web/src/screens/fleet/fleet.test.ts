import type { Alert, Bead, ListedWorker } from "@forge/client";
import { describe, expect, it } from "vitest";
import { groupBeads, holderOf, sectionOf } from "./beads/bead";
import { modelName, standingOf } from "./fleet-words";
import { countStandings, sortAlerts, sortWorkers } from "./order";
import { readVariables } from "./workers/variables";

type Listed = Pick<ListedWorker, "id" | "managed" | "phase" | "health">;

const worker = (
  id: string,
  more: Partial<Listed> = {},
  level: "healthy" | "degraded" | "critical" = "healthy",
): Listed => ({
  id,
  managed: true,
  phase: "running",
  health: { level, findings: [], memory_mb: null },
  ...more,
});

describe("workers", () => {
  it("stand by their health only while they work", () => {
    expect(standingOf(worker("a", {}, "degraded"))).toBe("degraded");
    expect(standingOf(worker("a", { phase: "failed" }))).toBe("failed");
    expect(standingOf(worker("a", { phase: "finished" }, "critical"))).toBe("ended");
    expect(standingOf(worker("a", { managed: false }, "critical"))).toBe("foreign");
  });

  it("come with the worst first, and by name with its number", () => {
    const workers = [
      worker("w-10"),
      worker("w-9"),
      worker("old", { phase: "stopped" }),
      worker("b", {}, "degraded"),
      worker("other", { managed: false }),
      worker("c", { phase: "failed" }),
    ];
    expect(sortWorkers(workers).map(({ id }) => id)).toEqual(["c", "b", "w-9", "w-10", "other", "old"]);
    expect(countStandings(workers)).toMatchObject({ failed: 1, degraded: 1, healthy: 2, ended: 1, foreign: 1 });
  });
});

const bead = (id: string, more: Partial<Bead> = {}, standing: Partial<Bead["standing"]> = {}): Bead => ({
  id,
  ...more,
  standing: { ready: false, blocked_by: [], lease: null, failures: 0, parked: null, task_id: null, ...standing },
});

describe("beads", () => {
  it("are each in one section, and strange states wait", () => {
    expect(sectionOf(bead("a", {}, { ready: true }))).toBe("ready");
    expect(sectionOf(bead("a", { status: "open" }, { blocked_by: ["b"] }))).toBe("blocked");
    expect(sectionOf(bead("a", { status: "deferred" }, { ready: true }))).toBe("blocked");
    expect(sectionOf(bead("a", { status: "in_progress" }, { parked: "failed" }))).toBe("parked");
    expect(sectionOf(bead("a", { status: "closed" }, { parked: "failed" }))).toBe("closed");
  });

  it("are sorted by urgency, closed ones by their end", () => {
    const groups = groupBeads([
      bead("late", { priority: 3 }, { ready: true }),
      bead("now", { priority: 0 }, { ready: true }),
      bead("old", { status: "closed", closed_at: "2026-01-01" }),
      bead("new", { status: "closed", closed_at: "2026-02-01" }),
    ]);
    expect(groups.get("ready")?.map(({ id }) => id)).toEqual(["now", "late"]);
    expect(groups.get("closed")?.map(({ id }) => id)).toEqual(["new", "old"]);
  });

  it("name who has them as people know it", () => {
    expect(holderOf(bead("a", { assignee: "forge/host/opus-1/24eaf0c6" }))).toBe("opus-1");
    expect(holderOf(bead("a", { assignee: "kim" }))).toBe("kim");
    expect(holderOf(bead("a"))).toBeUndefined();
  });
});

it("alerts: unseen ones first, the gravest first, resolved ones apart", () => {
  const alert = (id: string, more: Partial<Alert>): Alert => ({
    id,
    kind: "budget",
    severity: "info",
    subject: "",
    message: "",
    count: 1,
    first_at: "2026-01-01",
    last_at: "2026-01-01",
    acknowledged_at: null,
    resolved_at: null,
    ...more,
  });
  const { open, resolved } = sortAlerts([
    alert("seen", { severity: "critical", acknowledged_at: "2026-01-01" }),
    alert("old", { severity: "warning" }),
    alert("new", { severity: "warning", last_at: "2026-01-02" }),
    alert("worst", { severity: "critical" }),
    alert("over", { severity: "critical", resolved_at: "2026-01-02" }),
  ]);
  expect(open.map(({ id }) => id)).toEqual(["worst", "new", "old", "seen"]);
  expect(resolved.map(({ id }) => id)).toEqual(["over"]);
});

it("models are named, agents as people call them", () => {
  expect(modelName("CLAUDE_CODE")).toBe("Claude Code");
  expect(modelName("CLAUDE_CODE:PLAN")).toBe("Claude Code PLAN");
  expect(modelName("claude-opus-4-5")).toBe("claude-opus-4-5");
});

it("variables are read line by line, and values may have =", () => {
  expect(readVariables("A=1\n\n# no\n B = x=y \nC")).toEqual({ A: "1", B: "x=y", C: "" });
  expect(readVariables(" \n")).toBeUndefined();
});
