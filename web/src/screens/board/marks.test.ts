import { expect, test } from "vitest";
import { marksOf } from "./marks";
import { aCard, aTask } from "./sample-task";

const kinds = (...given: Parameters<typeof marksOf>): string[] => marksOf(...given).map(({ kind }) => kind);

test("a question comes before everything else", () => {
  const card = aCard({ waiting_approvals: 1, status: "failed", queued_draft: true });
  const clash = { target: "Conflicts with main: a", overlaps: [] };
  expect(kinds(aTask(), card, clash)).toEqual(["answer", "failed", "conflict", "queued"]);
});

test("what failed is not said of a task that is over, or that is tried again", () => {
  expect(kinds(aTask({ last_attempt_failed: true }), undefined, undefined)).toEqual(["failed"]);
  expect(kinds(aTask({ status: "done", last_attempt_failed: true }), undefined, undefined)).toEqual([]);
  expect(kinds(aTask({ last_attempt_failed: true, has_in_progress_attempt: true }), undefined, undefined)).toEqual([]);
  expect(
    kinds(aTask({ status: "cancelled" }), aCard({ status: "failed", unverified: true }), { target: "x", overlaps: [] }),
  ).toEqual([]);
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

test("only a conflict with the target is a mark; overlaps with neighbours are shown more quietly", () => {
  const overlaps = [{ attemptId: "b", branch: "forge/b", files: ["x"] }];
  expect(kinds(aTask(), aCard(), { overlaps })).toEqual([]);
  expect(kinds(aTask(), aCard(), { target: "Conflicts with main: x", overlaps })).toEqual(["conflict"]);
});
