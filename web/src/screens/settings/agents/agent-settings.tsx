// Agents: which one is used when nobody says, which are on this machine, and how each of them is run.

import { useSuspenseQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { infoQuery } from "../../../api/queries/settings";
import { AgentPicker } from "../../../parts/agent-picker";
import { Problem } from "../../../ui/state";
import { useConfigForm } from "../form/config";
import { Panel } from "../form/section-panel";
import { FoundAgents } from "./found-agents";
import { Mcp } from "./mcp";
import { Profiles } from "./profiles";

export function Agents() {
  const { data: info } = useSuspenseQuery(infoQuery());
  const { agent } = useSearch({ from: "/settings/$section" });
  const chosen = agent !== undefined && agent in info.executors ? agent : info.config.executor_profile.executor;
  return (
    <>
      <DefaultAgent />
      <FoundAgents executors={Object.keys(info.executors)} chosen={chosen} />
      <Profiles executor={chosen} />
      <Mcp key={chosen} executor={chosen} />
    </>
  );
}

function DefaultAgent() {
  const form = useConfigForm("default-agent");
  const { value, onChange, error } = form.field("executor_profile");
  return (
    <Panel title="Default agent" about="Used when a task doesn't specify one." form={form}>
      <div>
        <AgentPicker
          projectId={undefined}
          value={{ executor: value.executor, variant: value.variant ?? null, model: value.model ?? null }}
          onChange={({ executor, variant, model }) =>
            onChange({ executor, ...(variant && { variant }), ...(model && { model }) })
          }
        />
      </div>
      <Problem look="xs">{error}</Problem>
    </Panel>
  );
}
