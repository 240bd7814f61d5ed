// @vitest-environment happy-dom

import { beforeEach, expect, test } from "vitest";
import { CommentStore, writtenOnes } from "./comments";

const place = { path: "a.ts", side: "new" as const, start: 3, end: 3, quote: "x" };

beforeEach(() => localStorage.clear());

const only = (store: CommentStore) => {
  const [comment] = store.read().comments;
  if (!comment) throw new Error("no comment");
  return comment;
};

test("what is typed survives a reload, saved or not", () => {
  const store = new CommentStore("t1");
  store.begin(place);
  store.type(only(store).id, "half a thou");
  store.typeOverall("All in all");
  const after = new CommentStore("t1").read();
  expect(after.comments[0]?.draft).toBe("half a thou");
  expect(after.overall).toBe("All in all");
});

test("typing does not call readers, opening and saving do", () => {
  const store = new CommentStore("t2");
  let calls = 0;
  store.subscribe(() => calls++);
  store.begin(place);
  store.type(only(store).id, "a");
  expect(calls).toBe(1);
  store.save(only(store).id, "a");
  expect(calls).toBe(2);
});

test("a second box on the same line is the first one", () => {
  const store = new CommentStore("t3");
  store.begin(place);
  store.begin(place);
  expect(store.read().comments).toHaveLength(1);
});

test("cancelling a new comment removes it, cancelling an edit keeps the words", () => {
  const store = new CommentStore("t4");
  store.begin(place);
  store.cancel(only(store).id);
  expect(store.read().comments).toHaveLength(0);
  store.begin(place);
  store.save(only(store).id, "Why?");
  store.edit(only(store).id);
  store.type(only(store).id, "Nonsense");
  store.cancel(only(store).id);
  expect(only(store)).toMatchObject({ text: "Why?", draft: null });
});

test("sending takes away what was sent, and nothing else", () => {
  const store = new CommentStore("t5");
  store.begin(place);
  store.save(only(store).id, "sent");
  const sent = new Set(writtenOnes(store.read()).map((comment) => comment.id));
  store.begin({ ...place, end: 9 });
  store.clearSent(sent);
  expect(store.read().comments.map((comment) => comment.end)).toEqual([9]);
});

test("storage that is broken is no storage", () => {
  localStorage.setItem("forge.draft.review.t6", "{");
  expect(new CommentStore("t6").read()).toEqual({ comments: [], overall: "" });
});
