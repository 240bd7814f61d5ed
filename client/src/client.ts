// Every call of the contract under the name that clients know, and the streams.
// Invariant: each method is one route of the table in `types`, so a route that goes or changes does not compile.

import { Connection, type Given, type Options } from "./connection.js";
import { ForgeEventSource } from "./event-source.js";
import { type EventOptions, watchEvents } from "./events.js";
import type { FollowOptions } from "./follow.js";
import * as streams from "./streams.js";
import type {
  CreateAndStartTask,
  CreateAndStartTaskHere,
  CreateApproval,
  CreateProject,
  CreateTaskAttempt,
  CreateTaskHere,
  CreateTaskTemplate,
  DraftChange,
  DraftType,
  ProfileChoice,
  Routes,
  StartedTask,
  UpdateProject,
  UpdateTask,
  UpdateTaskTemplate,
} from "./types.js";

/** A place in a file; the server opens the file, the line is not part of its contract. */
interface Place {
  file?: string;
  line?: number;
}

const attempt = (attempt_id: string) => ({ path: { attempt_id } });
const project = (project_id: string) => ({ path: { project_id } });
const task = (project_id: string, task_id: string) => ({ path: { project_id, task_id } });
const filePath = (place: Place | undefined) => (place?.file === undefined ? {} : { body: { file_path: place.file } });

export class ForgeClient {
  readonly #server: Connection;

  /** `baseUrl` such as `http://localhost:8887`; a token is needed only where the server asks for one. */
  constructor(baseUrl: string, token?: string, options: Options = {}) {
    this.#server = new Connection(baseUrl, token, options);
  }

  /** Any route, typed: `request("GET /api/worktrees", {})`. */
  request<R extends keyof Routes>(route: R, given: Given<R>): Promise<Routes[R]["answer"]> {
    return this.#server.ask(route, given);
  }

  // Health and login

  healthCheck() {
    return this.#server.ask("GET /health", {});
  }

  authGithubDeviceStart() {
    return this.#server.ask("POST /api/auth/github/device/start", {});
  }

  /** The server knows the code of the login that it started. */
  authGithubDevicePoll(deviceCode?: string) {
    return this.#server.ask("POST /api/auth/github/device/poll", { body: { device_code: deviceCode } });
  }

  authGithubCheck() {
    return this.#server.ask("GET /api/auth/github/check", {});
  }

  // Settings

  getSystemInfo() {
    return this.#server.ask("GET /api/info", {});
  }

  getConfig() {
    return this.#server.ask("GET /api/config", {});
  }

  /** Only what is given changes. */
  updateConfig(config: object) {
    return this.#server.ask("PUT /api/config", { body: { ...config } });
  }

  /** Built-in and own profiles, by executor and variant. */
  async getExecutorProfiles(): Promise<{ executors: Record<string, unknown> }> {
    return { executors: (await this.getSystemInfo()).executors };
  }

  /** `{executors: …}` as an object or as text. */
  updateExecutorProfiles(profiles: string | object) {
    // The route takes text; this is the form in which an object may hold it.
    const body = typeof profiles === "string" ? { profiles } : profiles;
    return this.#server.ask("PUT /api/profiles", { body: body as unknown as string });
  }

  getMcpConfig(executor: string) {
    return this.#server.ask("GET /api/mcp-config", { query: { executor } });
  }

  updateMcpConfig(executor: string, config: object) {
    return this.#server.ask("POST /api/mcp-config", { query: { executor }, body: { ...config } });
  }

  getNotificationSound(sound: string): Promise<Blob> {
    return this.#server.load("GET /api/sounds/{sound}", { path: { sound } });
  }

  // Projects

  listProjects() {
    return this.#server.ask("GET /api/projects", {});
  }

  createProject(body: CreateProject) {
    return this.#server.ask("POST /api/projects", { body });
  }

  getProject(id: string) {
    return this.#server.ask("GET /api/projects/{project_id}", project(id));
  }

  updateProject(id: string, updates: UpdateProject) {
    return this.#server.ask("PUT /api/projects/{project_id}", { ...project(id), body: updates });
  }

  async deleteProject(id: string): Promise<void> {
    await this.#server.ask("DELETE /api/projects/{project_id}", project(id));
  }

  listProjectBranches(id: string) {
    return this.#server.ask("GET /api/projects/{project_id}/branches", project(id));
  }

  searchProjectFiles(id: string, query: string, mode = "FileName") {
    return this.#server.ask("GET /api/projects/{project_id}/search", { ...project(id), query: { q: query, mode } });
  }

  openProjectInEditor(id: string, place?: Place) {
    return this.#server.ask("POST /api/projects/{project_id}/open-editor", { ...project(id), ...filePath(place) });
  }

  // Tasks

  listTasks(projectId: string) {
    return this.#server.ask("GET /api/projects/{project_id}/tasks", project(projectId));
  }

  /** What a board shows beside the tasks that have an attempt; of one task when it is named. */
  listTaskCards(projectId: string, taskId?: string) {
    const query = taskId === undefined ? {} : { task_id: taskId };
    return this.#server.ask("GET /api/projects/{project_id}/cards", { ...project(projectId), query });
  }

  createTask(projectId: string, body: CreateTaskHere) {
    return this.#server.ask("POST /api/projects/{project_id}/tasks", { ...project(projectId), body });
  }

  createAndStartTask(request: CreateAndStartTask): Promise<StartedTask>;
  createAndStartTask(projectId: string, request: CreateAndStartTaskHere): Promise<StartedTask>;
  createAndStartTask(first: string | CreateAndStartTask, body?: CreateAndStartTaskHere): Promise<StartedTask> {
    if (typeof first !== "string") return this.#server.ask("POST /api/tasks/create-and-start", { body: first });
    const route = "POST /api/projects/{project_id}/tasks/create-and-start";
    return this.#server.ask(route, { ...project(first), body: body as CreateAndStartTaskHere });
  }

  getTask(projectId: string, taskId: string) {
    return this.#server.ask("GET /api/projects/{project_id}/tasks/{task_id}", task(projectId, taskId));
  }

  updateTask(projectId: string, taskId: string, body: UpdateTask) {
    return this.#server.ask("PUT /api/projects/{project_id}/tasks/{task_id}", { ...task(projectId, taskId), body });
  }

  async deleteTask(projectId: string, taskId: string): Promise<void> {
    await this.#server.ask("DELETE /api/projects/{project_id}/tasks/{task_id}", task(projectId, taskId));
  }

  // Attempts

  /** Newest first. */
  listTaskAttempts(taskId?: string) {
    return this.#server.ask("GET /api/task-attempts", taskId === undefined ? {} : { query: { task_id: taskId } });
  }

  createTaskAttempt(body: CreateTaskAttempt) {
    return this.#server.ask("POST /api/task-attempts", { body });
  }

  getTaskAttempt(id: string) {
    return this.#server.ask("GET /api/task-attempts/{attempt_id}", attempt(id));
  }

  followUpTaskAttempt(id: string, prompt: string) {
    return this.#server.ask("POST /api/task-attempts/{attempt_id}/follow-up", { ...attempt(id), body: { prompt } });
  }

  replaceTaskAttemptProcess(id: string, body: { prompt: string; executor_profile_id?: ProfileChoice }) {
    return this.#server.ask("POST /api/task-attempts/{attempt_id}/replace-process", { ...attempt(id), body });
  }

  getTaskAttemptBranchStatus(id: string) {
    return this.#server.ask("GET /api/task-attempts/{attempt_id}/branch-status", attempt(id));
  }

  rebaseTaskAttempt(id: string, baseBranch?: string) {
    const body = { new_base_branch: baseBranch ?? null };
    return this.#server.ask("POST /api/task-attempts/{attempt_id}/rebase", { ...attempt(id), body });
  }

  mergeTaskAttempt(id: string) {
    return this.#server.ask("POST /api/task-attempts/{attempt_id}/merge", attempt(id));
  }

  async pushTaskAttemptBranch(id: string): Promise<void> {
    await this.#server.ask("POST /api/task-attempts/{attempt_id}/push", attempt(id));
  }

  async abortTaskAttemptConflicts(id: string): Promise<void> {
    await this.#server.ask("POST /api/task-attempts/{attempt_id}/conflicts/abort", attempt(id));
  }

  /** The address of the pull request. */
  createTaskAttemptPullRequest(id: string, pr: { title: string; description?: string; target_branch?: string }) {
    const body = { title: pr.title, body: pr.description ?? null, target_branch: pr.target_branch ?? null };
    return this.#server.ask("POST /api/task-attempts/{attempt_id}/pr", { ...attempt(id), body });
  }

  attachExistingPullRequest(id: string, prNumber?: number) {
    const body = { pr_number: prNumber ?? null };
    return this.#server.ask("POST /api/task-attempts/{attempt_id}/pr/attach", { ...attempt(id), body });
  }

  getCommitInfo(id: string, sha: string) {
    return this.#server.ask("GET /api/task-attempts/{attempt_id}/commit-info", { ...attempt(id), query: { sha } });
  }

  compareCommitToHead(id: string, sha: string) {
    return this.#server.ask("GET /api/task-attempts/{attempt_id}/commit-compare", { ...attempt(id), query: { sha } });
  }

  getTaskAttemptChildren(id: string) {
    return this.#server.ask("GET /api/task-attempts/{attempt_id}/children", attempt(id));
  }

  async stopTaskAttemptExecution(id: string): Promise<void> {
    await this.#server.ask("POST /api/task-attempts/{attempt_id}/stop", attempt(id));
  }

  changeTaskAttemptTargetBranch(id: string, targetBranch: string) {
    const body = { new_target_branch: targetBranch };
    return this.#server.ask("POST /api/task-attempts/{attempt_id}/change-target-branch", { ...attempt(id), body });
  }

  openTaskAttemptInEditor(id: string, place?: Place) {
    return this.#server.ask("POST /api/task-attempts/{attempt_id}/open-editor", { ...attempt(id), ...filePath(place) });
  }

  startDevServer(id: string) {
    return this.#server.ask("POST /api/task-attempts/{attempt_id}/start-dev-server", attempt(id));
  }

  async deleteTaskAttemptFile(id: string, filePath: string): Promise<void> {
    const query = { file_path: filePath };
    await this.#server.ask("POST /api/task-attempts/{attempt_id}/delete-file", { ...attempt(id), query });
  }

  // Drafts

  saveDraft(id: string, type: DraftType, content: string | DraftChange) {
    const given = { ...attempt(id), query: { type }, body: content };
    return this.#server.ask("POST /api/task-attempts/{attempt_id}/draft", given);
  }

  getDraft(id: string, type: DraftType) {
    return this.#server.ask("GET /api/task-attempts/{attempt_id}/draft", { ...attempt(id), query: { type } });
  }

  async deleteDraft(id: string, type: DraftType): Promise<void> {
    await this.#server.ask("DELETE /api/task-attempts/{attempt_id}/draft", { ...attempt(id), query: { type } });
  }

  queueDraftExecution(id: string, type: DraftType, queue: { execute: boolean; prompt?: string }) {
    const body = { queued: queue.execute, prompt: queue.prompt ?? null };
    const given = { ...attempt(id), query: { type }, body };
    return this.#server.ask("POST /api/task-attempts/{attempt_id}/draft/queue", given);
  }

  // Processes

  /** Oldest first. */
  listExecutionProcesses(attemptId: string, showSoftDeleted = false) {
    const query = { task_attempt_id: attemptId, show_soft_deleted: showSoftDeleted };
    return this.#server.ask("GET /api/execution-processes", { query });
  }

  getExecutionProcess(id: string) {
    return this.#server.ask("GET /api/execution-processes/{process_id}", { path: { process_id: id } });
  }

  async stopExecutionProcess(id: string): Promise<void> {
    await this.#server.ask("POST /api/execution-processes/{process_id}/stop", { path: { process_id: id } });
  }

  // Templates

  listTaskTemplates(filter: { global?: boolean; projectId?: string } = {}) {
    const query: { global?: boolean; project_id?: string } = {};
    if (filter.global !== undefined) query.global = filter.global;
    if (filter.projectId !== undefined) query.project_id = filter.projectId;
    return this.#server.ask("GET /api/templates", { query });
  }

  createTaskTemplate(body: CreateTaskTemplate) {
    return this.#server.ask("POST /api/templates", { body });
  }

  getTaskTemplate(id: string) {
    return this.#server.ask("GET /api/templates/{template_id}", { path: { template_id: id } });
  }

  updateTaskTemplate(id: string, body: UpdateTaskTemplate) {
    return this.#server.ask("PUT /api/templates/{template_id}", { path: { template_id: id }, body });
  }

  async deleteTaskTemplate(id: string): Promise<void> {
    await this.#server.ask("DELETE /api/templates/{template_id}", { path: { template_id: id } });
  }

  // Images

  uploadImage(file: Blob) {
    return this.#server.ask("POST /api/images/upload", { body: form(file) });
  }

  uploadTaskImage(taskId: string, file: Blob) {
    return this.#server.ask("POST /api/images/task/{task_id}/upload", { path: { task_id: taskId }, body: form(file) });
  }

  getImageFile(id: string): Promise<Blob> {
    return this.#server.load("GET /api/images/{image_id}/file", { path: { image_id: id } });
  }

  getTaskImages(taskId: string) {
    return this.#server.ask("GET /api/images/task/{task_id}", { path: { task_id: taskId } });
  }

  async deleteImage(id: string): Promise<void> {
    await this.#server.ask("DELETE /api/images/{image_id}", { path: { image_id: id } });
  }

  // Approvals

  createApprovalRequest(body: CreateApproval) {
    return this.#server.ask("POST /api/approvals/create", { body });
  }

  getApprovalStatus(id: string) {
    return this.#server.ask("GET /api/approvals/{approval_id}/status", { path: { approval_id: id } });
  }

  async respondToApprovalRequest(id: string, approved: boolean, comment?: string): Promise<void> {
    const body = { approved, comment: comment ?? null };
    await this.#server.ask("POST /api/approvals/{approval_id}/respond", { path: { approval_id: id }, body });
  }

  getPendingApprovals() {
    return this.#server.ask("GET /api/approvals/pending", {});
  }

  // Folders

  /** Whose worktree a path is. */
  getContainerInfo(ref: string) {
    return this.#server.ask("GET /api/containers/info", { query: { ref } });
  }

  listDirectory(path?: string) {
    return this.#server.ask("GET /api/filesystem/directory", path === undefined ? {} : { query: { path } });
  }

  listGitRepositories(path?: string) {
    return this.#server.ask("GET /api/filesystem/git-repos", path === undefined ? {} : { query: { path } });
  }

  // Agents of a project

  getForgeAgents(projectId: string, agentType?: string) {
    const query = agentType === undefined ? {} : { agent_type: agentType };
    return this.#server.ask("GET /api/forge/agents", { query: { project_id: projectId, ...query } });
  }

  /** The one that is there, if there is one of this type. */
  createForgeAgent(projectId: string, agentType: string) {
    return this.#server.ask("POST /api/forge/agents", { body: { project_id: projectId, agent_type: agentType } });
  }

  // Addresses of streams, for clients with a socket of their own

  getTasksStreamUrl(projectId: string): string {
    return this.#server.socketUrl("GET /api/tasks/stream/ws", { query: { project_id: projectId } });
  }

  getExecutionProcessesStreamUrl(attemptId: string): string {
    return this.#server.socketUrl("GET /api/execution-processes/stream/ws", { query: { task_attempt_id: attemptId } });
  }

  getRawLogsStreamUrl(processId: string): string {
    const path = { process_id: processId };
    return this.#server.socketUrl("GET /api/execution-processes/{process_id}/raw-logs/ws", { path });
  }

  getNormalizedLogsStreamUrl(processId: string): string {
    const path = { process_id: processId };
    return this.#server.socketUrl("GET /api/execution-processes/{process_id}/normalized-logs/ws", { path });
  }

  getTaskDiffStreamUrl(attemptId: string, statsOnly = false): string {
    const query = { stats_only: statsOnly };
    return this.#server.socketUrl("GET /api/task-attempts/{attempt_id}/diff/ws", { ...attempt(attemptId), query });
  }

  getDraftsStreamUrl(projectId: string): string {
    return this.#server.socketUrl("GET /api/drafts/stream/ws", { query: { project_id: projectId } });
  }

  // Streams: `for await`, ended by `break` or the signal; they reconnect by themselves and continue where they were

  /** Everything that happens, as an EventSource. */
  subscribeToEvents(options: { signal?: AbortSignal; after?: number } = {}): ForgeEventSource {
    return new ForgeEventSource(this.#server, options);
  }

  /** The same to iterate over. */
  watchEvents(options: EventOptions = {}) {
    return watchEvents(this.#server, options);
  }

  watchTasks(projectId: string, options: FollowOptions = {}) {
    return streams.watchTasks(this.#server, projectId, options);
  }

  watchExecutionProcesses(attemptId: string, options: FollowOptions & { showSoftDeleted?: boolean } = {}) {
    return streams.watchProcesses(this.#server, attemptId, options);
  }

  watchDrafts(projectId: string, options: FollowOptions = {}) {
    return streams.watchDrafts(this.#server, projectId, options);
  }

  watchDiff(attemptId: string, options: FollowOptions & { statsOnly?: boolean } = {}) {
    return streams.watchDiff(this.#server, attemptId, options);
  }

  /** Ends when the process has. */
  watchRawLogs(processId: string, options: streams.RawLogOptions = {}) {
    return streams.watchRawLogs(this.#server, processId, options);
  }

  /** Ends when the process has. */
  watchNormalizedLogs(processId: string, options: FollowOptions = {}) {
    return streams.watchNormalizedLogs(this.#server, processId, options);
  }
}

function form(file: Blob): FormData {
  const body = new FormData();
  body.append("file", file, file instanceof File ? file.name : "image");
  return body;
}
