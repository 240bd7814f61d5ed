// The two older shapes of calls, as shipped clients send them, word for word.
import { afterAll, beforeAll, expect, it } from "vitest";
import { readNodeFrames } from "../dist/node-socket.js";
import { ended, makeWorld, until, type World } from "./fixture.js";

let world: World;

beforeAll(async () => {
  world = await makeWorld();
});

afterAll(() => world.forge.close());

/** As they do: JSON's content type always, the envelope opened without a look at anything else. */
// biome-ignore lint/suspicious/noExplicitAny: older clients had no types
async function call(method: string, path: string, body?: unknown): Promise<any> {
  const headers = { "content-type": "application/json", authorization: "Bearer ignored" };
  const request = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const response = await fetch(`${world.forge.base}/api${path}`, request);
  const answer = await response.json();
  if (!answer.success) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
  return answer.data;
}

const last = (attempt: string) => ended(world, attempt);

it("the first generation: under the project, follow_up_prompt, {profiles}", async () => {
  const request = {
    task: { project_id: world.project, title: "say a", description: "say first" },
    executor_profile_id: { executor: "SCRIPTED", variant: "DEFAULT" },
    base_branch: "main",
  };
  const started = await call("POST", `/projects/${world.project}/tasks/create-and-start`, request);
  const attempt = started.attempts[0].id;
  expect(started.task_attempt.id).toBe(attempt);
  await last(attempt);
  await call("POST", `/task-attempts/${attempt}/follow-up`, { follow_up_prompt: "hang" });
  expect(await call("POST", `/task-attempts/${attempt}/stop`)).toBeNull();
  expect((await last(attempt)).status).toBe("killed");
  const own = { executors: { SHELL: { A: { SHELL: {} } } } };
  await call("PUT", "/profiles", { profiles: own });
  await call("PUT", "/profiles", { profiles: JSON.stringify(own) });
  expect(JSON.parse((await call("GET", "/profiles")).content).executors.SHELL).toHaveProperty("A");
  const stream = new URL(`${world.forge.base}/api/projects/${world.project}/tasks/stream/ws`);
  const frames = readNodeFrames(stream, { "user-agent": "Genie-MCP/1.0" }, new AbortController().signal);
  expect(JSON.parse(String((await frames.next()).value)).JsonPatch[0].path).toBe("/tasks");
  await frames.return(1000);
});

it("the second generation: flat routes, prompt, raw {executors}, agents", async () => {
  const body = { name: "other", git_repo_path: world.forge.repository("other"), use_existing_repo: true };
  const project = (await call("POST", "/projects", body)).id;
  expect((await call("PUT", `/projects/${project}`, { default_base_branch: "main" })).name).toBe("other");
  const request = {
    task: { project_id: project, title: "say b", description: "say second" },
    executor_profile_id: { executor: "SCRIPTED", variant: "default" },
    base_branch: "main",
  };
  const started = await call("POST", "/tasks/create-and-start", request);
  const attempt = started.attempts[0].id;
  expect([started.task.id, started.task_attempt.id]).toEqual([started.id, attempt]);
  await last(attempt);
  await call("POST", `/task-attempts/${attempt}/follow-up`, { prompt: "say again" });
  const shown = await call("GET", `/task-attempts/${attempt}`);
  expect([shown.project_id, shown.executor_profile_id.executor]).toEqual([project, "SCRIPTED"]);
  await last(attempt);
  const processes = await call("GET", `/execution-processes?task_attempt_id=${attempt}&show_soft_deleted=false`);
  expect(processes.at(-1).output).toContain("again");
  await call("PUT", "/profiles", { executors: { SHELL: { B: { SHELL: {} } } } });
  expect((await call("GET", "/info")).executors.SHELL).toHaveProperty("B");
  const agent = await call("POST", "/forge/agents", { project_id: project, agent_type: "wish" });
  expect((await call("GET", `/forge/agents?project_id=${project}&agent_type=wish`))[0].task_id).toBe(agent.task_id);
});

it("the third generation, which nobody shipped: a task, then its start, and a status for the end", async () => {
  const task = await call("POST", `/projects/${world.project}/tasks`, { title: "say d", description: "say third" });
  const attempt = await call("POST", `/tasks/${task.id}/attempts/start`, { executor: "SCRIPTED", base_branch: "main" });
  expect((await last(attempt.id)).status).toBe("completed");
  expect((await call("PUT", `/tasks/${task.id}`, { status: "cancelled" })).status).toBe("cancelled");
});

it("the bodies that differ from ours: rebase, target branch, drafts", async () => {
  const request = { task: { project_id: world.project, title: "say c" }, executor_profile_id: "SCRIPTED" };
  const attempt = (await call("POST", "/tasks/create-and-start", request)).task_attempt.id;
  await last(attempt);
  expect(await call("POST", `/task-attempts/${attempt}/rebase`, { base_branch: "main" })).toBeNull();
  await call("POST", `/task-attempts/${attempt}/change-target-branch`, { target_branch: "main" });
  const draft = `/task-attempts/${attempt}/draft`;
  expect((await call("POST", `${draft}?type=follow_up`, { content: "say d" })).prompt).toBe("say d");
  await call("POST", `${draft}/queue?type=follow_up`, { execute: true, prompt: "say e" });
  const said = async () => (await call("GET", `/execution-processes?task_attempt_id=${attempt}`)).at(-1).output;
  await until("the queued prompt", async () => ((await said())?.includes("e") ? true : undefined));
});
