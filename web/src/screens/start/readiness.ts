// How ready the agents of a machine are.

import type { FoundAgent } from "@forge/client";

interface Readiness {
  ready: readonly FoundAgent[];
  /** Installed, but not ready: usually a login is missing. */
  waiting: readonly FoundAgent[];
  /** Would have to be installed first, or fetched by npx, which has everything. */
  missing: readonly FoundAgent[];
}

const isInstalled = ({ found }: FoundAgent): boolean => found !== null && found !== "npx";

/** The one command that brings an agent nearer to working. */
export function nextStep({ found, log_in, install }: FoundAgent): string {
  return found === null ? install : (log_in ?? install);
}

export function sortAgents(agents: readonly FoundAgent[]): Readiness {
  return {
    // Those with a model first: what is built in only replays and runs commands.
    ready: agents
      .filter((agent) => agent.ready)
      .sort((a, b) => Number(a.found === "built_in") - Number(b.found === "built_in")),
    waiting: agents.filter((agent) => !agent.ready && isInstalled(agent)),
    missing: agents.filter((agent) => !agent.ready && !isInstalled(agent)),
  };
}
