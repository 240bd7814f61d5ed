import { expect, test } from "vitest";
import { restoreForm } from "../../kept/draft";
import { EMPTY, flawsOf, isEmpty, parseIssue, withAttempts, withTemplate } from "./task-form";

const template = (title: string, description: string | null) => ({
  id: "t",
  project_id: null,
  title,
  description,
  template_name: "x",
  created_at: "",
  updated_at: "",
});

test("a form comes back as it was, and odd parts of it are left out", () => {
  const form = { ...EMPTY, title: "A", labels: ["x"], made: { taskId: "t", attempts: [null] } };
  expect(restoreForm(EMPTY, JSON.parse(JSON.stringify(form)))).toEqual(form);
  expect(restoreForm(EMPTY, { title: 4, labels: "x", agents: {}, unknown: 1, description: "kept" })).toEqual({
    ...EMPTY,
    description: "kept",
  });
  expect(restoreForm(EMPTY, null)).toEqual(EMPTY);
});

test("a template fills what is empty and adds to what is written", () => {
  expect(withTemplate(EMPTY, template("T", "D"))).toMatchObject({ title: "T", description: "D" });
  const written = { ...EMPTY, title: "mine", description: "words\n" };
  expect(withTemplate(written, template("T", "D"))).toMatchObject({ title: "mine", description: "words\n\nD" });
  expect(withTemplate(written, template("T", null)).description).toBe("words");
});

test("attempts are one to five, and new ones take the agent before them", () => {
  const agent = { executor: "CODEX", variant: null, model: null };
  const form = { ...EMPTY, agents: [null, agent] };
  expect(withAttempts(form, 3).agents).toEqual([null, agent, agent]);
  expect(withAttempts(form, 1).agents).toEqual([null]);
  expect(withAttempts(form, 0).agents).toHaveLength(1);
  expect(withAttempts(form, 9).agents).toHaveLength(5);
});

test("issues are read as people write them", () => {
  expect(parseIssue(" #42 ")).toEqual({ number: 42 });
  expect(parseIssue("https://github.com/a/b/issues/7")).toEqual({ url: "https://github.com/a/b/issues/7" });
  expect(parseIssue("fix it")).toBeNull();
});

test("a form says what it lacks", () => {
  expect(flawsOf(EMPTY)).toHaveProperty("title");
  expect(flawsOf({ ...EMPTY, title: "A" })).toEqual({});
  expect(flawsOf({ ...EMPTY, mode: "issue" })).toHaveProperty("issue");
  expect(flawsOf({ ...EMPTY, title: "A", budget: "x" })).toHaveProperty("budget");
  expect(isEmpty(EMPTY)).toBe(true);
  expect(isEmpty({ ...EMPTY, description: "x" })).toBe(false);
});
