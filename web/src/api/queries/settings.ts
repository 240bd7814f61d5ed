// What is asked about Forge itself: its settings, agents and worktrees.

import { queryOptions } from "@tanstack/react-query";
import { forge } from "../forge";
import { LOOKED_UP } from "../freshness";
import { keys } from "../keys";

/** The settings and what Forge can do. Another window or the command line may have changed them meanwhile. */
export const infoQuery = () =>
  queryOptions({
    queryKey: keys.info(),
    queryFn: () => forge.getSystemInfo(),
    refetchOnWindowFocus: true,
    ...LOOKED_UP,
  });

export const agentsQuery = () =>
  queryOptions({ queryKey: keys.agents(), queryFn: () => forge.request("GET /api/agents", {}), staleTime: 60_000 });

export const profilesQuery = () =>
  queryOptions({ queryKey: keys.profiles(), queryFn: () => forge.request("GET /api/profiles", {}), ...LOOKED_UP });

export const mcpQuery = (executor: string) =>
  queryOptions({
    queryKey: keys.mcp(executor),
    queryFn: () => forge.getMcpConfig(executor),
    ...LOOKED_UP,
    retry: false,
  });

export const worktreesQuery = () =>
  queryOptions({ queryKey: keys.worktrees(), queryFn: () => forge.request("GET /api/worktrees", {}), ...LOOKED_UP });

export const omniQuery = () =>
  queryOptions({ queryKey: keys.omni(), queryFn: () => forge.request("GET /api/forge/config", {}), ...LOOKED_UP });

export const healthQuery = () =>
  queryOptions({ queryKey: keys.health(), queryFn: () => forge.healthCheck(), ...LOOKED_UP });
