// What is asked about tokens and money.

import { queryOptions } from "@tanstack/react-query";
import { forge } from "../forge";
import { LIVE } from "../freshness";
import { keys } from "../keys";

/** Which days, and of which project; days are those of UTC. */
export interface Period {
  from: string;
  to: string;
  project_id?: string;
}

export const usageQuery = (groupBy: string, period: Period) =>
  queryOptions({
    queryKey: keys.usage(groupBy, period),
    queryFn: () => forge.request("GET /api/usage", { query: { group_by: groupBy, ...period } }),
    ...LIVE,
  });

export const modelsUsageQuery = (period: Period) =>
  queryOptions({
    queryKey: keys.usage("models", period),
    queryFn: () => forge.request("GET /api/usage/models", { query: { ...period } }),
    ...LIVE,
  });

export const workersUsageQuery = (period: Period) =>
  queryOptions({
    queryKey: keys.usage("workers", period),
    queryFn: () => forge.request("GET /api/usage/workers", { query: { ...period } }),
    ...LIVE,
  });
