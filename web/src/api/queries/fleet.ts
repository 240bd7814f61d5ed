// What is asked about workers, beads, routing and alerts.

import { queryOptions } from "@tanstack/react-query";
import { forge } from "../forge";
import { LIVE, LOOKED_UP } from "../freshness";
import { keys } from "../keys";

export const workersQuery = () =>
  queryOptions({ queryKey: keys.workers(), queryFn: () => forge.request("GET /api/workers", {}), ...LOOKED_UP });

export const alertsQuery = () =>
  queryOptions({
    queryKey: keys.alerts(),
    queryFn: () => forge.request("GET /api/alerts", { query: { limit: 200 } }),
    ...LIVE,
  });

export const routingQuery = () =>
  queryOptions({
    queryKey: keys.routing(),
    queryFn: () => forge.request("GET /api/routing", { query: { limit: 200 } }),
    ...LIVE,
  });

/** What a worker's screen shows; there is no event when it changes. */
export const paneQuery = (workerId: string) =>
  queryOptions({
    queryKey: keys.pane(workerId),
    queryFn: () =>
      forge.request("GET /api/workers/{worker_id}/peek", { path: { worker_id: workerId }, query: { lines: 200 } }),
    staleTime: 0,
    retry: false,
  });

export const workerDefinitionsQuery = () =>
  queryOptions({
    queryKey: keys.workerDefinitions(),
    queryFn: () => forge.request("GET /api/worker-definitions", {}),
    ...LOOKED_UP,
  });

export const launchersQuery = () =>
  queryOptions({ queryKey: keys.launchers(), queryFn: () => forge.request("GET /api/launchers", {}), ...LOOKED_UP });

export const beadsQuery = (projectId: string) =>
  queryOptions({
    queryKey: keys.beads(projectId),
    queryFn: () => forge.request("GET /api/beads", { query: { project_id: projectId } }),
    ...LOOKED_UP,
  });

/** Beads that can be worked on now, of a folder that need not be a project's. */
export const readyBeadsQuery = (workspace: string) =>
  queryOptions({
    queryKey: keys.beads("ready", workspace),
    queryFn: () => forge.request("GET /api/beads", { query: { workspace, ready: true } }),
    ...LOOKED_UP,
  });

export const dispatchRuleQuery = (projectId: string) =>
  queryOptions({
    queryKey: keys.dispatch(projectId),
    queryFn: () => forge.request("GET /api/projects/{project_id}/dispatch", { path: { project_id: projectId } }),
    ...LOOKED_UP,
  });
