// @vitest-environment happy-dom
import { expect, test, vi } from "vitest";
import { type Api, create, launch } from "./launch";
import { EMPTY, type Made } from "./task-form";

const agent = (executor: string) => ({ executor, variant: null, model: null });
const AGENTS = [agent("A"), agent("B"), agent("C")];

function fakeApi(broken: Set<string>) {
  const createAndStartTask = vi.fn(async () => ({ id: "task", task_attempt: { id: "a0" } }));
  const createTaskAttempt = vi.fn(async (body: { executor_profile_id: { executor: string } }) => {
    const { executor } = body.executor_profile_id;
    if (broken.has(executor)) throw new Error(`${executor} is not here`);
    return { id: `a-${executor}` };
  });
  const createTask = vi.fn(async () => ({ id: "task" }));
  const request = vi.fn(async () => ({ id: "issue-task", task_attempt: null }));
  const fake = { createAndStartTask, createTaskAttempt, createTask, request };
  return { ...fake, api: fake as unknown as Api };
}

const FORM = { ...EMPTY, title: " A ", description: " ", agents: [null, null, null] };

test("what failed is named, and a retry starts only that", async () => {
  const broken = new Set(["B"]);
  const { api, createAndStartTask, createTaskAttempt } = fakeApi(broken);
  const reports: Made[] = [];
  const onMade = (made: Made) => reports.push(made);
  const [made, failures] = await launch({ projectId: "p", form: FORM, agents: AGENTS, onMade, api });
  expect(made).toEqual({ taskId: "task", attempts: ["a0", null, "a-C"] });
  expect([...failures]).toEqual([[1, "B is not here"]]);
  expect(reports.at(-1)).toEqual(made);

  broken.clear();
  const again = await launch({ projectId: "p", form: { ...FORM, made }, agents: AGENTS, onMade, api });
  expect(again[0].attempts).toEqual(["a0", "a-B", "a-C"]);
  expect(again[1].size).toBe(0);
  expect(createAndStartTask).toHaveBeenCalledTimes(1);
  expect(createTaskAttempt).toHaveBeenCalledTimes(3);
});

test("the task is reported before its further attempts are tried", async () => {
  const { api } = fakeApi(new Set(["B", "C"]));
  const reports: Made[] = [];
  await launch({ projectId: "p", form: FORM, agents: AGENTS, onMade: (made) => reports.push(made), api });
  expect(reports).toEqual([{ taskId: "task", attempts: ["a0", null, null] }]);
});

test("a task that could not be made leaves nothing behind", async () => {
  const { api, createAndStartTask, createTaskAttempt } = fakeApi(new Set());
  createAndStartTask.mockRejectedValueOnce(new Error("no"));
  const onMade = vi.fn();
  await expect(launch({ projectId: "p", form: FORM, agents: AGENTS, onMade, api })).rejects.toThrow("no");
  expect(onMade).not.toHaveBeenCalled();
  expect(createTaskAttempt).not.toHaveBeenCalled();
});

test("an issue becomes a task, and its agent starts even when the first try did not", async () => {
  const { api, request, createTaskAttempt } = fakeApi(new Set());
  const form = { ...EMPTY, mode: "issue" as const, issue: "#7" };
  expect(await create("p", form, api)).toBe("issue-task");
  expect(request).toHaveBeenLastCalledWith(
    expect.anything(),
    expect.objectContaining({ body: { number: 7, start: false } }),
  );
  const [made] = await launch({ projectId: "p", form, agents: [agent("A")], onMade: () => {}, api });
  expect(made.attempts).toEqual(["a-A"]);
  expect(createTaskAttempt).toHaveBeenCalledTimes(1);
});

test("blank descriptions are not sent", async () => {
  const { api, createTask } = fakeApi(new Set());
  await create("p", FORM, api);
  expect(createTask).toHaveBeenCalledWith("p", { title: "A", description: null, image_ids: [], labels: [] });
});
