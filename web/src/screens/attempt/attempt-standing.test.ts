import type { ExecutionProcess } from "@forge/client";
import { expect, it } from "vitest";
import { durationOf, promptOf, standingOf } from "./attempt-standing";
import { sampleProcess as process } from "./sample-process";

const NOW = Date.parse("2026-01-01T12:00:00Z");

const running = process({ status: "running", completed_at: null, exit_code: null });
const words = (processes: ExecutionProcess[], waiting = 0) => standingOf("running", processes, waiting, NOW).word;

it("says what the last piece of work came to", () => {
  expect(words([process({})])).toBe("Finished");
  expect(words([process({ commit_error: "the disk is full" })])).toBe("Finished, not committed");
  expect(words([process({ unverified: true })])).toBe("Finished, unverified");
  expect(words([process({ status: "failed", exit_code: 3 })])).toBe("Failed (exit code 3)");
  expect(words([process({ status: "failed", exit_code: -1 })])).toBe("Failed");
  expect(words([process({ status: "failed", exit_code: 1, run_reason: "setupscript" })])).toBe(
    "Setup script failed (exit code 1)",
  );
  expect(words([process({ status: "killed", exit_code: null })])).toBe("Stopped");
});

it("says that it runs, and that it waits for an answer", () => {
  expect(standingOf("running", [running], 0, NOW)).toMatchObject({ word: "Running", since: running.started_at });
  expect(words([running], 1)).toBe("Waiting for you");
  expect(words([process({ ...running, run_reason: "setupscript" })])).toBe("Setting up");
});

it("is not alive only because of its dev server", () => {
  const server = process({ ...running, run_reason: "devserver" });
  expect(standingOf("completed", [process({}), server], 0, NOW)).toMatchObject({ word: "Finished", isAlive: false });
});

it("is parked while it waits for its provider", () => {
  const parked = { ...running, parked_until: "2026-01-01T12:30:00Z" };
  expect(standingOf("running", [parked], 0, NOW)).toMatchObject({ word: "Parked", until: parked.parked_until });
  const overdue = { ...running, parked_until: "2026-01-01T11:30:00Z" };
  expect(standingOf("running", [overdue], 0, NOW)).toMatchObject({ word: "Parked", isAlive: false, until: undefined });
});

it("starts before there is any process", () => {
  expect(standingOf("pending", [], 0, NOW)).toMatchObject({ word: "Starting", isAlive: true });
});

it("reads prompts and durations, also of actions it does not know", () => {
  expect(promptOf(process({}))).toBe("ask p");
  expect(promptOf({ ...process({}), executor_action: {} as never })).toBeUndefined();
  expect(durationOf(process({}))).toBe(42_000);
});
