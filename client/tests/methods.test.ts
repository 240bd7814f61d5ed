// Every method of the client, once, against a real server.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ForgeClient, ForgeError } from "@forge/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ended, failure, makeWorld, start, type World } from "./fixture.js";

const ABSENT = "00000000-0000-4000-8000-000000000000";
let world: World;
let client: ForgeClient;
let project: string;
const called = new Set<string>();

beforeAll(async () => {
  world = await makeWorld();
  ({ project } = world);
  client = new Proxy(world.client, {
    get(target, name: string) {
      called.add(name);
      const member = Reflect.get(target, name, target) as unknown;
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
});

afterAll(() => world.forge.close());

/** A call that only reaches its rule: what it needs (a code host, an editor) is not on this machine. */
async function refused(call: Promise<unknown>, words: RegExp) {
  const error = await failure(call);
  expect(error).toBeInstanceOf(ForgeError);
  expect((error as ForgeError).message).toMatch(words);
}

describe("the client", () => {
  it("knows the server and its settings", async () => {
    expect((await client.healthCheck()).status).toBe("ok");
    expect((await client.getSystemInfo()).config.config_version).toBe("v7");
    expect((await client.getConfig()).theme).toBe("SYSTEM");
    expect((await client.updateConfig({ theme: "DARK" })).theme).toBe("DARK");
    expect((await client.getExecutorProfiles()).executors).toHaveProperty("SHELL");
    const own = { executors: { SHELL: { MINE: { SHELL: {} } } } };
    expect(await client.updateExecutorProfiles(own)).toMatch(/success/);
    expect(await client.updateExecutorProfiles(JSON.stringify(own))).toMatch(/success/);
    expect((await client.getExecutorProfiles()).executors).toHaveProperty("SHELL.MINE");
    expect(await client.updateMcpConfig("CLAUDE_CODE", { servers: { x: { command: "x" } } })).toMatch(/./);
    expect((await client.getMcpConfig("CLAUDE_CODE")).mcp_config.servers).toHaveProperty("x");
    expect((await client.getNotificationSound("GENIE_NOTIFY1")).size).toBeGreaterThan(100);
    expect(await client.authGithubCheck()).toBe("INVALID");
    await refused(client.authGithubDeviceStart(), /GITHUB_CLIENT_ID/);
    await refused(client.authGithubDevicePoll("code"), /start/);
    expect((await client.request("GET /api/worktrees", {})).base).toContain("worktrees");
  });

  it("keeps projects", async () => {
    const repo = world.forge.repository("other");
    const made = await client.createProject({ name: "other", git_repo_path: repo, use_existing_repo: true });
    expect((await client.listProjects()).map((one) => one.id)).toContain(made.id);
    expect((await client.getProject(made.id)).name).toBe("other");
    expect((await client.updateProject(made.id, { default_base_branch: "main" })).default_base_branch).toBe("main");
    expect((await client.listProjectBranches(made.id)).map((branch) => branch.name)).toEqual(["main"]);
    expect((await client.searchProjectFiles(made.id, "readme")).map((hit) => hit.path)).toEqual(["README.md"]);
    await client.updateConfig({ editor: { editor_type: "CUSTOM", custom_command: "true" } });
    expect(await client.openProjectInEditor(made.id, { file: "README.md", line: 1 })).toEqual({ url: null });
    const agent = await client.createForgeAgent(made.id, "wish");
    expect(await client.createForgeAgent(made.id, "wish")).toEqual(agent);
    expect(await client.getForgeAgents(made.id, "wish")).toEqual([agent]);
    expect(await client.deleteProject(made.id)).toBeUndefined();
    expect(await failure(client.getProject(made.id))).toMatchObject({ name: "ForgeError", status: 404, isFinal: true });
  });

  it("keeps tasks, templates and images", async () => {
    const task = await client.createTask(project, { title: "one" });
    expect((await client.listTasks(project)).find((one) => one.id === task.id)?.latest_attempt).toBeNull();
    expect((await client.updateTask(project, task.id, { status: "inreview" })).status).toBe("inreview");
    const pixel = new Blob([Uint8Array.from(atob(PIXEL), (letter) => letter.charCodeAt(0))], { type: "image/png" });
    const image = await client.uploadImage(pixel);
    expect(image.mime_type).toBe("image/png");
    const mine = await client.uploadTaskImage(task.id, new File([pixel, "x"], "mine.png"));
    expect(mine.original_name).toBe("mine.png");
    expect((await client.getTaskImages(task.id)).map((one) => one.id)).toEqual([mine.id]);
    expect((await client.getImageFile(image.id)).size).toBe(pixel.size);
    await client.deleteImage(image.id);
    expect(await failure(client.getImageFile(image.id))).toMatchObject({ status: 404 });
    await client.deleteTask(project, task.id);
    expect(await failure(client.getTask(project, task.id))).toMatchObject({ status: 404 });

    const template = await client.createTaskTemplate({ title: "t", template_name: "n", project_id: project });
    expect((await client.updateTaskTemplate(template.id, { title: "u" })).title).toBe("u");
    expect((await client.getTaskTemplate(template.id)).template_name).toBe("n");
    expect(await client.listTaskTemplates({ projectId: project })).toHaveLength(1);
    await client.deleteTaskTemplate(template.id);
    expect(await client.listTaskTemplates({ global: true })).toEqual([]);
  });

  it("starts, answers, reviews and lands an attempt", async () => {
    const request = { task: { title: "say hi", description: "write a.txt hello" }, executor_profile_id: "SCRIPTED" };
    const started = await client.createAndStartTask(project, request);
    const id = started.task_attempt.id;
    expect((await ended(world, id)).status).toBe("completed");
    const shown = await client.getTaskAttempt(id);
    expect([shown.status, shown.task.id]).toEqual(["completed", started.id]);
    expect(await client.getContainerInfo(shown.worktree_path ?? "")).toMatchObject({ attempt_id: id });
    expect((await client.listTaskAttempts()).map((one) => one.id)).toContain(id);
    expect((await client.listTaskAttempts(started.id)).map((one) => one.id)).toEqual([id]);
    expect(await client.listTaskCards(project, started.id)).toMatchObject([
      { attempt_id: id, files_changed: 1, additions: 1 },
    ]);
    expect(await client.getTaskAttemptBranchStatus(id)).toMatchObject({ commits_ahead: 1, commits_behind: 0 });
    expect(await client.openTaskAttemptInEditor(id)).toEqual({ url: null });
    expect((await client.getTaskAttemptChildren(id)).children).toEqual([]);

    const followUp = await client.followUpTaskAttempt(id, "write b.txt more");
    expect((await client.getExecutionProcess(followUp.id)).run_reason).toBe("codingagent");
    const last = await ended(world, id);
    const sha = last.after_head_commit ?? "";
    expect((await client.getCommitInfo(id, sha)).sha).toBe(sha);
    expect(await client.compareCommitToHead(id, sha)).toMatchObject({ is_linear: true, ahead_from_head: 0 });
    const replaced = await client.replaceTaskAttemptProcess(id, { prompt: "write c.txt instead" });
    expect(replaced.deleted_count).toBe(1);
    await ended(world, id);
    expect(await client.listExecutionProcesses(id)).toHaveLength(2);
    expect(await client.listExecutionProcesses(id, true)).toHaveLength(3);

    writeFileSync(join(shown.worktree_path ?? "", "stray.txt"), "x");
    await client.deleteTaskAttemptFile(id, "stray.txt");
    expect(await client.abortTaskAttemptConflicts(id)).toBeUndefined();
    expect((await client.changeTaskAttemptTargetBranch(id, "main")).new_target_branch).toBe("main");
    expect(await client.rebaseTaskAttempt(id, "main")).toBeNull();
    await refused(client.createTaskAttemptPullRequest(id, { title: "t", description: "d" }), /remote|origin/);
    await refused(client.attachExistingPullRequest(id, 1), /remote|origin/);
    const remote = join(world.forge.dir, "remote.git");
    execFileSync("git", ["init", "-q", "--bare", remote]);
    execFileSync("git", ["remote", "add", "origin", remote], { cwd: world.repo });
    expect(await client.pushTaskAttemptBranch(id)).toBeUndefined();
    expect(await client.mergeTaskAttempt(id)).toBeNull();
    expect((await client.getTask(project, started.id)).status).toBe("done");
  });

  it("stops what runs", async () => {
    await client.updateProject(project, { dev_script: "sleep 600" });
    const { attempt, process, task } = await start(world, "hang");
    await client.stopExecutionProcess(process);
    expect((await client.getExecutionProcess(process)).status).toBe("killed");
    expect(await client.startDevServer(attempt)).toBeNull();
    await client.stopTaskAttemptExecution(attempt);
    expect((await ended(world, attempt)).run_reason).toBe("devserver");
    const again = await client.createTaskAttempt({ task_id: task, executor_profile_id: { executor: "SHELL" } });
    expect(again.task_id).toBe(task);
    await client.stopTaskAttemptExecution(again.id);
  });

  it("keeps drafts and answers questions", async () => {
    const { attempt } = await start(world, "say done");
    await ended(world, attempt);
    expect((await client.saveDraft(attempt, "follow_up", "as text")).prompt).toBe("as text");
    expect((await client.saveDraft(attempt, "follow_up", { prompt: "say drafted" })).prompt).toBe("say drafted");
    expect((await client.getDraft(attempt, "follow_up")).prompt).toBe("say drafted");
    await client.deleteDraft(attempt, "follow_up");
    expect((await client.getDraft(attempt, "follow_up")).prompt).toBe("");
    const queued = await client.queueDraftExecution(attempt, "follow_up", { execute: true, prompt: "say queued" });
    expect(queued.task_attempt_id).toBe(attempt);

    const question = await client.createApprovalRequest({ tool_name: "Bash", tool_input: {}, session_id: ABSENT });
    expect((await client.getPendingApprovals()).map((one) => one.id)).toContain(question.id);
    expect(await client.respondToApprovalRequest(question.id, false, "no")).toBeUndefined();
    expect(await client.getApprovalStatus(question.id)).toEqual({ status: "denied", reason: "no" });
  });

  it("looks into folders and names streams", async () => {
    expect((await client.listDirectory(world.forge.dir)).entries.map((entry) => entry.name)).toContain("demo");
    expect((await client.listGitRepositories(world.forge.dir)).map((entry) => entry.name)).toContain("demo");
    const base = world.forge.base.replace("http", "ws");
    expect([
      client.getTasksStreamUrl("p"),
      client.getExecutionProcessesStreamUrl("a"),
      client.getRawLogsStreamUrl("x"),
      client.getNormalizedLogsStreamUrl("x"),
      client.getTaskDiffStreamUrl("a"),
      client.getDraftsStreamUrl("p"),
    ]).toEqual([
      `${base}/api/tasks/stream/ws?project_id=p`,
      `${base}/api/execution-processes/stream/ws?task_attempt_id=a`,
      `${base}/api/execution-processes/x/raw-logs/ws`,
      `${base}/api/execution-processes/x/normalized-logs/ws`,
      `${base}/api/task-attempts/a/diff/ws?stats_only=false`,
      `${base}/api/drafts/stream/ws?project_id=p`,
    ]);
  });

  it("has no method that was not called here or in streams.test.ts", () => {
    const all = Object.getOwnPropertyNames(ForgeClient.prototype).filter((name) => name !== "constructor");
    const streams = /^(watch|subscribeToEvents)/;
    expect(all.filter((name) => !called.has(name) && !streams.test(name))).toEqual([]);
  });
});

describe("an error", () => {
  it("says what the server said, with the whole answer", async () => {
    const error = (await failure(world.client.getTaskAttempt(ABSENT))) as ForgeError;
    expect(error.status).toBe(404);
    expect(error.message).toContain(ABSENT);
    expect(error.body).toMatchObject({ success: false, data: null });
  });

  it("distinguishes a refusal with 200 from an answer", async () => {
    const twice = { name: "again", git_repo_path: world.repo, use_existing_repo: true };
    const error = (await failure(world.client.createProject(twice))) as ForgeError;
    expect([error.status, error.isFinal]).toEqual([200, false]);
    expect(error.message).toMatch(/already/);
  });

  it("says when it is not Forge that answered", async () => {
    const fetch = async () => new Response("<html>", { status: 200 });
    const error = (await failure(new ForgeClient("http://x", undefined, { fetch }).listProjects())) as ForgeError;
    expect(error.message).toMatch(/not JSON; is http:\/\/x a Forge server/);
  });
});

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
