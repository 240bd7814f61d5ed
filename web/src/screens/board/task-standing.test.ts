import { expect, test } from "vitest";
import { aCard, aTask } from "./sample-task";
import { columnOf, isRunning } from "./task-standing";

const inReview = aTask({ status: "inreview" });

test("a task that waits for an answer is in progress", () => {
  expect(columnOf(inReview, aCard({ status: "running", waiting_approvals: 1 }))).toBe("inprogress");
  expect(columnOf(inReview, aCard({ status: "completed" }))).toBe("inreview");
});

test("a run that failed without changes leaves nothing to review", () => {
  const failed = aCard({ status: "failed", files_changed: 0 });
  expect(columnOf(inReview, failed)).toBe("todo");
  expect(columnOf(inReview, { ...failed, files_changed: 2 })).toBe("inreview");
  // What was not counted may be there.
  expect(columnOf(inReview, { ...failed, files_changed: null })).toBe("inreview");
  expect(columnOf(inReview, { ...failed, commit_error: "the disk is full" })).toBe("inreview");
});

test("what an earlier attempt changed is still there to review", () => {
  const failed = aCard({ status: "failed", files_changed: 0, attempts: 2 });
  expect(columnOf(inReview, { ...failed, earlier_changes: true })).toBe("inreview");
  expect(columnOf(inReview, failed)).toBe("todo");
});

test("where somebody put a task, it stays", () => {
  const failed = aCard({ status: "failed", files_changed: 0, waiting_approvals: 1 });
  for (const status of ["todo", "inprogress", "done", "cancelled"] as const) {
    expect(columnOf(aTask({ status }), failed)).toBe(status);
  }
  expect(columnOf(inReview, undefined)).toBe("inreview");
});

test("the card knows better than the task whether it runs", () => {
  expect(isRunning(aTask({ has_in_progress_attempt: true }), aCard())).toBe(false);
  expect(isRunning(aTask(), aCard({ status: "running" }))).toBe(true);
  expect(isRunning(aTask({ has_in_progress_attempt: true }), undefined)).toBe(true);
});
