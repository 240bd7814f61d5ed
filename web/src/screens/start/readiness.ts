// How ready the agents of a machine are.

import type { FoundAgent } from "@forge/client";
import { missingOf } from "../../parts/agents";

interface Readiness {
  ready: readonly FoundAgent[];
  /** Installed, but without a login. */
  waiting: readonly FoundAgent[];
  /** Would have to be installed first, or anew. */
  missing: readonly FoundAgent[];
}

export function sortAgents(agents: readonly FoundAgent[]): Readiness {
  return {
    // Those with a model first: what is built in only replays and runs commands.
    ready: agents
      .filter((agent) => agent.ready)
      .sort((a, b) => Number(a.found === "built_in") - Number(b.found === "built_in")),
    waiting: agents.filter((agent) => missingOf(agent) === "not_logged_in"),
    missing: agents.filter((agent) => ["not_installed", "not_working"].includes(missingOf(agent) ?? "")),
  };
}
