// What Genie declares of Forge and reads from its answers. Nothing here runs: `tsc -p client/tests` fails when a call that
// Genie makes, a field that it reads or the type it reads it as is gone.
import type { ForgeClient } from "../dist/index.js";

/** Genie keeps this declaration beside its own copy of the client. */
interface Declared {
  getNormalizedLogsStreamUrl(processId: string): string;
  listExecutionProcesses(attemptId: string): Promise<object[]>;
  getTaskAttempt(attemptId: string): Promise<object>;
}

interface Named {
  id: string;
}

interface Dated {
  created_at: string;
  updated_at: string;
}

interface Project extends Named {
  name: string;
  git_repo_path: string;
  default_base_branch?: string | null;
}

interface Profile {
  executor: string;
  variant?: string | null;
  model?: string | null;
}

interface Attempt extends Named, Dated {
  task_id: string;
  project_id: string;
  status: string;
  executor_profile_id: Profile;
  container_ref: string | null;
}

interface Process extends Named {
  status: "running" | "paused" | "completed" | "failed" | "killed";
  after_head_commit: string | null;
}

interface Task extends Named {
  title: string;
  status: "todo" | "inprogress" | "inreview" | "done" | "cancelled" | "agent" | "archived";
}

interface Started extends Named {
  attempts: Named[];
  task: Named;
  task_attempt: Named;
}

interface Agent extends Dated {
  task_id: string;
}

/** The calls as Genie makes them: what it sends, and what it reads of the answer. */
interface Calls extends Declared {
  healthCheck(): Promise<unknown>;
  listProjects(): Promise<Project[]>;
  createProject(body: { name: string; git_repo_path: string; use_existing_repo: boolean }): Promise<Project>;
  getProject(id: string): Promise<Project>;
  updateProject(id: string, updates: { default_base_branch: string }): Promise<unknown>;
  listTasks(projectId: string): Promise<Task[]>;
  getTask(projectId: string, taskId: string): Promise<Task>;
  createAndStartTask(request: {
    task: { project_id: string; title: string; description: string; parent_task_attempt?: string };
    executor_profile_id: Profile;
    base_branch: string;
  }): Promise<Started>;
  listTaskAttempts(taskId?: string): Promise<Attempt[]>;
  getTaskAttempt(id: string): Promise<Attempt>;
  createTaskAttempt(body: { task_id: string; executor_profile_id: Profile; base_branch: string }): Promise<Named>;
  followUpTaskAttempt(id: string, prompt: string): Promise<unknown>;
  stopTaskAttemptExecution(id: string): Promise<unknown>;
  listExecutionProcesses(attemptId: string): Promise<Process[]>;
  getForgeAgents(projectId: string, agentType?: string): Promise<Agent[]>;
  createForgeAgent(projectId: string, agentType: string): Promise<Agent>;
  getRawLogsStreamUrl(processId: string): string;
  getTaskDiffStreamUrl(attemptId: string, statsOnly?: boolean): string;
}

type Makes<Client> = new (baseUrl: string, token?: string) => Client;

declare const client: typeof ForgeClient;
client satisfies Makes<Calls>;
