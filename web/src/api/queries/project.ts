// What is asked about projects: their boards, branches and files.

import { queryOptions } from "@tanstack/react-query";
import { listCards } from "../cards";
import { forge } from "../forge";
import { LIVE, LOOKED_UP } from "../freshness";
import { keys } from "../keys";

export const projectsQuery = () =>
  queryOptions({ queryKey: keys.projects(), queryFn: () => forge.listProjects(), ...LIVE });

export const branchesQuery = (projectId: string) =>
  queryOptions({
    queryKey: keys.branches(projectId),
    queryFn: () => forge.listProjectBranches(projectId),
    ...LOOKED_UP,
  });

export const cardsQuery = (projectId: string) =>
  queryOptions({ queryKey: keys.cards(projectId), queryFn: () => listCards(projectId), ...LIVE });

/** The descriptions of a project's tasks, in lower case, for whoever searches them. */
export const descriptionsQuery = (projectId: string) =>
  queryOptions({
    queryKey: keys.descriptions(projectId),
    queryFn: async () => {
      const tasks = await forge.request("GET /api/tasks", { query: { project_id: projectId } });
      return new Map(tasks.map(({ id, description }) => [id, description?.toLowerCase() ?? ""]));
    },
    ...LOOKED_UP,
  });

export const conflictsQuery = (projectId: string) =>
  queryOptions({
    queryKey: keys.conflicts(projectId),
    queryFn: () => forge.request("GET /api/projects/{project_id}/conflicts", { path: { project_id: projectId } }),
    ...LIVE,
  });

/** How many tasks each project has in each status. */
export const taskCountsQuery = () =>
  queryOptions({
    queryKey: keys.taskCounts(),
    queryFn: async () => {
      const projects = await forge.request("GET /api/projects", { query: { counts: true } });
      return new Map(projects.map(({ id, task_counts }) => [id, task_counts ?? {}]));
    },
    ...LOOKED_UP,
  });

/** Files of a project whose path has these words. */
export const fileSearchQuery = (projectId: string, typed: string) =>
  queryOptions({
    queryKey: keys.fileSearch(projectId, typed),
    queryFn: () => forge.searchProjectFiles(projectId, typed),
    enabled: typed !== "",
    ...LOOKED_UP,
  });

/** What is in a folder of the server's machine; without a path, in the home folder. */
export const folderQuery = (path: string | undefined) =>
  queryOptions({
    queryKey: keys.folder(path ?? ""),
    queryFn: () => forge.listDirectory(path),
    retry: false,
    ...LOOKED_UP,
  });

/** Repositories where people usually keep them. */
export const repositoriesQuery = () =>
  queryOptions({ queryKey: keys.repositories(), queryFn: () => forge.listGitRepositories(), ...LOOKED_UP });

export const projectAttemptsQuery = (projectId: string) =>
  queryOptions({
    queryKey: keys.projectAttempts(projectId),
    queryFn: async () => {
      const listed = await forge.request("GET /api/task-attempts", { query: { project_id: projectId } });
      return new Map(listed.map((attempt) => [attempt.id, attempt]));
    },
    ...LOOKED_UP,
  });
