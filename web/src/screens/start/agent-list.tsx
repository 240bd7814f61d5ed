// The agents of this machine: which can work now, which want a login, which could be installed.

import type { FoundAgent } from "@forge/client";
import { useQuery } from "@tanstack/react-query";
import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";
import { agentsQuery } from "../../api/queries/settings";
import { MISSING, missingOf, nextStep } from "../../parts/agents";
import { Badge } from "../../ui/badge";
import { CopyCommand } from "../../ui/copy";
import { messageOf } from "../../ui/state";
import { sortAgents } from "./readiness";

export function Agents() {
  const { data, error, isPending } = useQuery({ ...agentsQuery(), retry: false });
  return (
    <section aria-labelledby="agents-found" className="w-full">
      <h2 id="agents-found" className="mb-2 font-medium text-muted text-sm">
        Agents on this machine
      </h2>
      <div className="overflow-hidden rounded-lg border border-line bg-surface shadow-card">
        {isPending && <p className="h-10 px-3 py-2.5 text-faint text-sm">Looking for agents…</p>}
        {error && <p className="px-3 py-2.5 text-faint text-sm">Agents could not be looked up: {messageOf(error)}</p>}
        {data && <AgentList agents={data} />}
      </div>
    </section>
  );
}

function AgentList({ agents }: { agents: readonly FoundAgent[] }) {
  const { ready, waiting, missing } = sortAgents(agents);
  const canThink = ready.some((agent) => agent.found !== "built_in");
  return (
    <>
      {!canThink && (
        <p className="border-line border-b px-3 py-2.5 text-muted text-sm">
          No AI agent is ready yet. Install or log in to one below. The demo doesn't need one.
        </p>
      )}
      <ul className="divide-y divide-line">
        {ready.map((agent) => (
          <Row key={agent.executor} agent={agent}>
            <span className="truncate text-faint text-xs tabular">{agent.version}</span>
            <Badge tone="good">Ready</Badge>
          </Row>
        ))}
        {waiting.map((agent) => (
          <Row key={agent.executor} agent={agent}>
            {agent.log_in && <CopyCommand command={agent.log_in} />}
            <Badge tone="warn">{MISSING.not_logged_in}</Badge>
          </Row>
        ))}
      </ul>
      {missing.length > 0 && (
        <details className="group border-line border-t" open={!canThink}>
          <summary className="flex h-10 list-none items-center gap-2 px-3 text-muted text-sm hover:bg-hover pointer-coarse:h-11">
            <ChevronRight className="size-4 transition-transform group-open:rotate-90" aria-hidden />
            {missing.length} {ready.length + waiting.length > 0 ? "more " : ""}available
          </summary>
          <ul className="divide-y divide-line border-line border-t">
            {missing.map((agent) => (
              <Row key={agent.executor} agent={agent}>
                <CopyCommand command={nextStep(agent) ?? agent.install} />
                <Badge>{MISSING[missingOf(agent) ?? "not_installed"]}</Badge>
              </Row>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function Row({ agent, children }: { agent: FoundAgent; children: ReactNode }) {
  return (
    <li className="flex min-h-10 flex-wrap items-center gap-x-3 gap-y-1 px-3 py-1 text-sm">
      <span className="font-medium">{agent.name}</span>
      <span className="ml-auto flex min-w-0 max-w-full items-center gap-3">{children}</span>
    </li>
  );
}
