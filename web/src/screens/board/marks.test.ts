import { expect, test } from "vitest";
import { clashesOf, isRunning, marksOf } from "./marks";
import { aCard, aTask } from "./sample";

const kinds = (...given: Parameters<typeof marksOf>): string[] => marksOf(...given).map(({ kind }) => kind);

test("a question comes before everything else", () => {
  const card = aCard({ waiting_approvals: 1, status: "failed", queued_draft: true });
  expect(kinds(aTask(), card, "Conflicts with main: a")).toEqual(["answer", "failed", "conflict", "queued"]);
});

test("what failed is not said of a task that is over, or that is tried again", () => {
  expect(kinds(aTask({ last_attempt_failed: true }), undefined, undefined)).toEqual(["failed"]);
  expect(kinds(aTask({ status: "done", last_attempt_failed: true }), undefined, undefined)).toEqual([]);
  expect(kinds(aTask({ last_attempt_failed: true, has_in_progress_attempt: true }), undefined, undefined)).toEqual([]);
  expect(kinds(aTask({ status: "cancelled" }), aCard({ status: "failed", unverified: true }), "x")).toEqual([]);
});

test("work that is not committed is said until it is over", () => {
  const card = aCard({ commit_error: "the disk is full" });
  expect(marksOf(aTask(), card, undefined)[0]).toMatchObject({ tone: "bad", text: "Not committed" });
  expect(marksOf(aTask(), card, undefined)[0]?.more).toContain("the disk is full");
  expect(kinds(aTask({ status: "done" }), card, undefined)).toEqual([]);
});

test("a pull request says more than that it was merged", () => {
  const pr = { number: 12, url: "", status: "merged", merged_at: null, merge_commit_sha: null } as const;
  expect(marksOf(aTask(), aCard({ pr, merged: true }), undefined)).toEqual([
    { kind: "pr", tone: "good", text: "#12 merged" },
  ]);
  expect(kinds(aTask(), aCard({ merged: true }), undefined)).toEqual(["merged"]);
});

test("the card knows better than the task whether it runs", () => {
  expect(isRunning(aTask({ has_in_progress_attempt: true }), aCard())).toBe(false);
  expect(isRunning(aTask(), aCard({ status: "running" }))).toBe(true);
  expect(isRunning(aTask({ has_in_progress_attempt: true }), undefined)).toBe(true);
});

test("a conflict with the target is told rather than one with a neighbour", () => {
  const clashes = clashesOf({
    target: [{ attempt_id: "a", branch: "forge/a", target_branch: "main", files: ["x"] }],
    pairs: [{ attempts: ["a", "b"], branches: ["forge/a", "forge/b"], files: ["1", "2", "3", "4"] }],
    checked_at: "",
    checked: 2,
    skipped: 0,
  });
  expect(clashes.get("a")).toBe("Conflicts with main: x");
  expect(clashes.get("b")).toBe("Changes the same lines as forge/a: 1, 2, 3, …");
  expect(clashesOf(undefined).size).toBe(0);
});
