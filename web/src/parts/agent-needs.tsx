// What an agent lacks before it can work, the command that helps, and a look whether it helped.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { RefreshCw, TriangleAlert } from "lucide-react";
import { forge } from "../api/forge";
import { agentsQuery } from "../api/queries/settings";
import { Button } from "../ui/button";
import { CopyCommand } from "../ui/copy";
import { messageOf } from "../ui/state";
import { toast } from "../ui/toast";
import { MISSING, missingOf, nextStep } from "./agents";

/** Looks for the agents of the machine again; what it finds is what every list shows from then on. */
export function useAgentCheck() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => forge.request("GET /api/agents", { query: { fresh: true } }),
    onSuccess: (found) => queries.setQueryData(agentsQuery().queryKey, found),
    onError: (error) => toast.failed(messageOf(error)),
  });
}

/** The same for one agent, which then says how it stands. */
export function CheckAgain({ executor }: { executor: string }) {
  const check = useAgentCheck();
  const look = async (): Promise<void> => {
    const found = (await check.mutateAsync().catch(() => [])).find((agent) => agent.executor === executor);
    const missing = found && missingOf(found);
    if (!found) return;
    if (missing) toast.failed(`${found.name} is still ${MISSING[missing].toLowerCase()}.`);
    else toast.done(`${found.name} is ready.`);
  };
  return (
    <Button
      size="sm"
      busy={check.isPending}
      icon={<RefreshCw className="size-3.5" aria-hidden />}
      onClick={() => void look()}
    >
      Check again
    </Button>
  );
}

/** Nothing while the agent can work, or nobody knows. */
export function AgentNeeds({ executor }: { executor: string }) {
  const { data: agents } = useQuery(agentsQuery());
  const agent = agents?.find((each) => each.executor === executor);
  const missing = agent && missingOf(agent);
  if (!missing) return null;
  const command = nextStep(agent);
  return (
    <div
      role="note"
      className="flex w-full flex-wrap items-center gap-x-3 gap-y-2 rounded-md bg-warn-soft px-3 py-2 text-sm"
    >
      <p className="flex items-center gap-2">
        <TriangleAlert className="size-4 shrink-0 text-warn" aria-hidden />
        {agent.name} is {MISSING[missing].toLowerCase()}.{command && " Run in a terminal:"}
      </p>
      {command && <CopyCommand command={command} />}
      <CheckAgain executor={executor} />
    </div>
  );
}
