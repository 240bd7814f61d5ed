// What the page asks for, and under which key it is kept.
// Invariant: every answer that is kept has its key here, so that `live/events` can tell what an event makes old.

import { queryOptions } from "@tanstack/react-query";
import { fileAddress, forge } from "./forge";
import { partOf } from "./patch";

/** Answers that events keep true; they are never asked for again just because time has passed. */
const LIVE = { staleTime: Number.POSITIVE_INFINITY } as const;
/** Answers about the world outside, which tells no events. */
const LOOKED_UP = { staleTime: 10_000 } as const;

export const projectsQuery = () =>
  queryOptions({ queryKey: ["projects"], queryFn: () => forge.listProjects(), ...LIVE });

export const infoQuery = () => queryOptions({ queryKey: ["info"], queryFn: () => forge.getSystemInfo(), ...LIVE });

export const agentsQuery = () =>
  queryOptions({ queryKey: ["agents"], queryFn: () => forge.request("GET /api/agents", {}), staleTime: 60_000 });

export const branchesQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["branches", projectId],
    queryFn: () => forge.listProjectBranches(projectId),
    ...LOOKED_UP,
  });

export const cardsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["cards", projectId],
    queryFn: async () => {
      const cards = await forge.listTaskCards(projectId);
      return new Map(cards.map((card) => [card.task_id, card]));
    },
    ...LIVE,
  });

export const conflictsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["conflicts", projectId],
    queryFn: () => forge.request("GET /api/projects/{project_id}/conflicts", { path: { project_id: projectId } }),
    ...LOOKED_UP,
  });

export const taskQuery = (projectId: string, taskId: string) =>
  queryOptions({ queryKey: ["task", taskId], queryFn: () => forge.getTask(projectId, taskId), ...LIVE });

export const attemptsQuery = (taskId: string) =>
  queryOptions({ queryKey: ["attempts", taskId], queryFn: () => forge.listTaskAttempts(taskId), ...LIVE });

export const attemptQuery = (attemptId: string) =>
  queryOptions({ queryKey: ["attempt", attemptId], queryFn: () => forge.getTaskAttempt(attemptId), ...LIVE });

export const branchStatusQuery = (attemptId: string) =>
  queryOptions({
    queryKey: ["branch-status", attemptId],
    queryFn: () => forge.getTaskAttemptBranchStatus(attemptId),
    ...LOOKED_UP,
  });

export const approvalsQuery = () =>
  queryOptions({ queryKey: ["approvals"], queryFn: () => forge.getPendingApprovals(), ...LIVE });

export const workersQuery = () =>
  queryOptions({ queryKey: ["workers"], queryFn: () => forge.request("GET /api/workers", {}), ...LOOKED_UP });

export const alertsQuery = () =>
  queryOptions({
    queryKey: ["alerts"],
    queryFn: () => forge.request("GET /api/alerts", { query: { limit: 200 } }),
    ...LIVE,
  });

export const routingQuery = () =>
  queryOptions({
    queryKey: ["routing"],
    queryFn: () => forge.request("GET /api/routing", { query: { limit: 200 } }),
    ...LIVE,
  });

/** What a worker's screen shows; nobody tells when it changes. */
export const paneQuery = (workerId: string) =>
  queryOptions({
    queryKey: ["pane", workerId],
    queryFn: () =>
      forge.request("GET /api/workers/{worker_id}/peek", { path: { worker_id: workerId }, query: { lines: 200 } }),
    staleTime: 0,
    retry: false,
  });

export const workerDefinitionsQuery = () =>
  queryOptions({
    queryKey: ["worker-definitions"],
    queryFn: () => forge.request("GET /api/worker-definitions", {}),
    ...LOOKED_UP,
  });

export const launchersQuery = () =>
  queryOptions({ queryKey: ["launchers"], queryFn: () => forge.request("GET /api/launchers", {}), ...LOOKED_UP });

export const beadsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["beads", projectId],
    queryFn: () => forge.request("GET /api/beads", { query: { project_id: projectId } }),
    ...LOOKED_UP,
  });

/** Beads that can be worked on now, of a folder that need not be a project's. */
export const readyBeadsQuery = (workspace: string) =>
  queryOptions({
    queryKey: ["beads", "ready", workspace],
    queryFn: () => forge.request("GET /api/beads", { query: { workspace, ready: true } }),
    ...LOOKED_UP,
  });

export const dispatchRuleQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["dispatch", projectId],
    queryFn: () => forge.request("GET /api/projects/{project_id}/dispatch", { path: { project_id: projectId } }),
    ...LOOKED_UP,
  });

/** What grows while agents work; events tell only that they do. */
const COUNTED = { staleTime: 10_000, refetchInterval: 30_000 } as const;

/** Which days, and of which project; days are those of UTC. */
export interface Period {
  from: string;
  to: string;
  project_id?: string;
}

export const usageQuery = (groupBy: string, period: Period) =>
  queryOptions({
    queryKey: ["usage", groupBy, period],
    queryFn: () => forge.request("GET /api/usage", { query: { group_by: groupBy, ...period } }),
    ...COUNTED,
  });

export const modelsUsageQuery = (period: Period) =>
  queryOptions({
    queryKey: ["usage", "models", period],
    queryFn: () => forge.request("GET /api/usage/models", { query: { ...period } }),
    ...COUNTED,
  });

export const workersUsageQuery = (period: Period) =>
  queryOptions({
    queryKey: ["usage", "workers", period],
    queryFn: () => forge.request("GET /api/usage/workers", { query: { ...period } }),
    ...COUNTED,
  });

/** What is in a folder of the server's machine; without a path, in the home folder. */
export const folderQuery = (path: string | undefined) =>
  queryOptions({
    queryKey: ["folder", path ?? ""],
    queryFn: () => forge.listDirectory(path),
    retry: false,
    ...LOOKED_UP,
  });

/** Repositories where people usually keep them. */
export const repositoriesQuery = () =>
  queryOptions({ queryKey: ["repositories"], queryFn: () => forge.listGitRepositories(), ...LOOKED_UP });

/** How many tasks each project has in each status. */
export const taskCountsQuery = () =>
  queryOptions({
    queryKey: ["task-counts"],
    queryFn: async () => {
      const projects = await forge.request("GET /api/projects", { query: { counts: true } });
      return new Map(projects.map(({ id, task_counts }) => [id, task_counts ?? {}]));
    },
    ...LOOKED_UP,
  });

/** Files of a project whose path has these words. */
export const fileSearchQuery = (projectId: string, typed: string) =>
  queryOptions({
    queryKey: ["file-search", projectId, typed],
    queryFn: () => forge.searchProjectFiles(projectId, typed),
    enabled: typed !== "",
    ...LOOKED_UP,
  });

export const tagsQuery = (typed: string) =>
  queryOptions({
    queryKey: ["tags", typed],
    queryFn: () => forge.request("GET /api/tags", { query: { search: typed } }),
    ...LOOKED_UP,
  });

export const templatesQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["templates", projectId],
    queryFn: async () => {
      const ask = (query: { project_id?: string; global?: boolean }) => forge.request("GET /api/templates", { query });
      const [own, shared] = await Promise.all([ask({ project_id: projectId }), ask({ global: true })]);
      return { own, shared };
    },
    ...LOOKED_UP,
  });

export const taskImagesQuery = (taskId: string) =>
  queryOptions({ queryKey: ["task-images", taskId], queryFn: () => forge.getTaskImages(taskId), ...LIVE });

/** The parent of an attempt's task, and the tasks that the attempt made. */
export const relationsQuery = (attemptId: string) =>
  queryOptions({ queryKey: ["relations", attemptId], queryFn: () => forge.getTaskAttemptChildren(attemptId), ...LIVE });

/** How much an attempt changed, without the changes themselves. */
export const figuresQuery = (attemptId: string) =>
  queryOptions({
    queryKey: ["figures", attemptId],
    queryFn: async () => {
      const given = { path: { attempt_id: attemptId }, query: { max_bytes: 0 } };
      const figures = await forge.request("GET /api/task-attempts/{attempt_id}/diff", given);
      return { files: figures.files_changed, additions: figures.additions, deletions: figures.deletions };
    },
    retry: false,
    ...LOOKED_UP,
  });

export const draftQuery = (attemptId: string) =>
  queryOptions({
    queryKey: ["draft", attemptId],
    queryFn: () => forge.getDraft(attemptId, "follow_up"),
    ...LIVE,
  });

/** The patch of one file as text. `revision` is the file's in `live/diff`: a newer one is another answer. */
export const patchQuery = (attemptId: string, path: string, revision: number) =>
  queryOptions({
    queryKey: ["patch", attemptId, path, revision],
    queryFn: async () => {
      const given = { path: { attempt_id: attemptId }, query: { path } };
      return partOf(await forge.request("GET /api/task-attempts/{attempt_id}/diff", given), path);
    },
    gcTime: 60_000,
    ...LIVE,
  });

/** A file before the attempt, line by line, for what a patch leaves out. */
export const oldLinesQuery = (attemptId: string, path: string) =>
  queryOptions({
    queryKey: ["old-lines", attemptId, path],
    queryFn: async () => {
      const response = await fetch(fileAddress(attemptId, path, "old"));
      if (!response.ok) throw new Error(`The lines could not be loaded (${response.status}).`);
      const lines = (await response.text()).split("\n");
      // A newline at the end ends the last line; it begins no other.
      return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
    },
    gcTime: 60_000,
    retry: false,
    ...LIVE,
  });

/** How many bytes a file has on one side; null when the server does not say. */
export const fileSizeQuery = (attemptId: string, path: string, side: "old" | "new", revision: number) =>
  queryOptions({
    queryKey: ["file-size", attemptId, path, side, revision],
    queryFn: async () => {
      const response = await fetch(fileAddress(attemptId, path, side), { method: "HEAD" });
      const size = response.headers.get("content-length");
      return response.ok && size !== null ? Number(size) : null;
    },
    gcTime: 60_000,
    retry: false,
    ...LIVE,
  });

/** How far the attempt's branch has come since a commit. */
export const commitDistanceQuery = (attemptId: string, sha: string) =>
  queryOptions({
    queryKey: ["commit-distance", attemptId, sha],
    queryFn: () => forge.compareCommitToHead(attemptId, sha),
    staleTime: 0,
  });
export const profilesQuery = () =>
  queryOptions({ queryKey: ["profiles"], queryFn: () => forge.request("GET /api/profiles", {}), ...LOOKED_UP });

export const mcpQuery = (executor: string) =>
  queryOptions({
    queryKey: ["mcp", executor],
    queryFn: () => forge.getMcpConfig(executor),
    ...LOOKED_UP,
    retry: false,
  });

export const worktreesQuery = () =>
  queryOptions({ queryKey: ["worktrees"], queryFn: () => forge.request("GET /api/worktrees", {}), ...LOOKED_UP });

export const allTemplatesQuery = () =>
  queryOptions({ queryKey: ["templates"], queryFn: () => forge.listTaskTemplates(), ...LOOKED_UP });

export const allTagsQuery = () =>
  queryOptions({ queryKey: ["tags"], queryFn: () => forge.request("GET /api/tags", {}), ...LOOKED_UP });

export const omniQuery = () =>
  queryOptions({ queryKey: ["omni"], queryFn: () => forge.request("GET /api/forge/config", {}), ...LOOKED_UP });

export const healthQuery = () =>
  queryOptions({ queryKey: ["health"], queryFn: () => forge.healthCheck(), ...LOOKED_UP });

export const projectAttemptsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["project-attempts", projectId],
    queryFn: async () => {
      const listed = await forge.request("GET /api/task-attempts", { query: { project_id: projectId } });
      return new Map(listed.map((attempt) => [attempt.id, attempt]));
    },
    ...LOOKED_UP,
  });
