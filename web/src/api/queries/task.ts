// What is asked about tasks, and the words that tasks are written from.

import { queryOptions } from "@tanstack/react-query";
import { forge } from "../forge";
import { LIVE, LOOKED_UP } from "../freshness";
import { keys } from "../keys";

export const taskQuery = (projectId: string, taskId: string) =>
  queryOptions({ queryKey: keys.task(taskId), queryFn: () => forge.getTask(projectId, taskId), ...LIVE });

export const attemptsQuery = (taskId: string) =>
  queryOptions({ queryKey: keys.attempts(taskId), queryFn: () => forge.listTaskAttempts(taskId), ...LIVE });

export const taskImagesQuery = (taskId: string) =>
  queryOptions({ queryKey: keys.taskImages(taskId), queryFn: () => forge.getTaskImages(taskId), ...LIVE });

/** The parent of an attempt's task, and the tasks that the attempt made. */
export const relationsQuery = (attemptId: string) =>
  queryOptions({
    queryKey: keys.relations(attemptId),
    queryFn: () => forge.getTaskAttemptChildren(attemptId),
    ...LIVE,
  });

export const tagsQuery = (typed: string) =>
  queryOptions({
    queryKey: keys.tags(typed),
    queryFn: () => forge.request("GET /api/tags", { query: { search: typed } }),
    ...LOOKED_UP,
  });

export const templatesQuery = (projectId: string) =>
  queryOptions({
    queryKey: keys.templates(projectId),
    queryFn: async () => {
      const ask = (query: { project_id?: string; global?: boolean }) => forge.request("GET /api/templates", { query });
      const [own, shared] = await Promise.all([ask({ project_id: projectId }), ask({ global: true })]);
      return { own, shared };
    },
    ...LOOKED_UP,
  });

export const allTagsQuery = () =>
  queryOptions({ queryKey: keys.tags(), queryFn: () => forge.request("GET /api/tags", {}), ...LOOKED_UP });

export const allTemplatesQuery = () =>
  queryOptions({ queryKey: keys.templates(), queryFn: () => forge.listTaskTemplates(), ...LOOKED_UP });
