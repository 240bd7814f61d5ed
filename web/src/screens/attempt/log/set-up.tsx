// What stands under the error of an agent that cannot work yet: what it lacks, and every way on from there.

import type { TaskAttempt } from "@forge/client";
import { useQuery } from "@tanstack/react-query";
import { Replace, RotateCw } from "lucide-react";
import { agentsQuery } from "../../../api/queries/settings";
import { CheckAgain } from "../../../parts/agent-needs";
import { MISSING, missingOf, nextStep } from "../../../parts/agents";
import { Button } from "../../../ui/button";
import { CopyCommand } from "../../../ui/copy";
import { agentName } from "../../../ui/format";

export interface SetUpActions {
  attempt: TaskAttempt;
  /** The agent's own helper, for agents that have one. */
  onSetUp: (() => void) | undefined;
  onAgain: (processId: string) => void;
  onOtherAgent: () => void;
}

export function SetUpBox({ processId, actions }: { processId: string; actions: SetUpActions }) {
  const { data: agents } = useQuery(agentsQuery());
  const { executor } = actions.attempt.executor_profile_id;
  const agent = agents?.find((each) => each.executor === executor);
  const missing = agent && missingOf(agent);
  const name = agent?.name ?? agentName(executor);
  // It said itself that it cannot work: what was found on the machine may be an old login, or another program.
  const command = agent && (nextStep(agent) ?? agent.log_in);
  return (
    <section aria-label="Set up the agent" className="mt-2 flex flex-col gap-2">
      <p>
        {missing ? `${name} is ${MISSING[missing].toLowerCase()}.` : `${name} is not installed or not logged in.`}
        {command ? " Run in a terminal:" : " Set it up in a terminal, then retry."}
      </p>
      {command && (
        <div className="flex min-w-0">
          <CopyCommand command={command} />
        </div>
      )}
      <div className="flex flex-wrap gap-2">
        {actions.onSetUp && (
          <Button size="sm" onClick={actions.onSetUp}>
            Set up the agent
          </Button>
        )}
        <CheckAgain executor={executor} />
        <Button
          size="sm"
          icon={<RotateCw className="size-3.5" aria-hidden />}
          onClick={() => actions.onAgain(processId)}
        >
          Retry
        </Button>
        <Button size="sm" icon={<Replace className="size-3.5" aria-hidden />} onClick={actions.onOtherAgent}>
          Switch agent
        </Button>
      </div>
    </section>
  );
}
