// How ready the agents of a machine are.

import type { FoundAgent } from "@forge/client";

export interface Readiness {
  ready: readonly FoundAgent[];
  /** There, but not ready: usually a login is missing. */
  waiting: readonly FoundAgent[];
  missing: readonly FoundAgent[];
}

export function sortAgents(agents: readonly FoundAgent[]): Readiness {
  return {
    ready: agents.filter((agent) => agent.ready),
    waiting: agents.filter((agent) => !agent.ready && agent.found !== null),
    missing: agents.filter((agent) => !agent.ready && agent.found === null),
  };
}
