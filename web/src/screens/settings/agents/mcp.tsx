// The MCP servers of an agent, in the agent's own configuration file.

import type { McpAnswer } from "@forge/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { forge } from "../../../api/forge";
import { mcpQuery } from "../../../api/queries/settings";
import { Button } from "../../../ui/button";
import { agentName } from "../../../ui/format";
import { messageOf, Problem } from "../../../ui/state";
import { JsonEditor } from "../form/json-editor";
import { isTree, readJson } from "../form/json-text";
import { Panel } from "../form/section-panel";
import { useForm } from "../form/settings-form";
import { presetsOf } from "./mcp-presets";

export function Mcp({ executor }: { executor: string }) {
  const { data, error } = useQuery(mcpQuery(executor));
  if (data) return <Servers executor={executor} answer={data} />;
  return (
    <Panel title="MCP servers">
      <p className="min-h-5 text-muted text-sm">{error ? `${messageOf(error)}.` : ""}</p>
    </Panel>
  );
}

function Servers({ executor, answer }: { executor: string; answer: McpAnswer }) {
  const queries = useQueryClient();
  const { servers, preconfigured, is_toml_config } = answer.mcp_config;
  const form = useForm({
    name: `mcp.${executor}`,
    stored: { servers: JSON.stringify(servers, null, 2) },
    send: async ({ servers }) => {
      await forge.updateMcpConfig(executor, { servers: JSON.parse(String(servers)) });
      await queries.fetchQuery({ ...mcpQuery(executor), staleTime: 0 });
    },
  });
  const { value: text, onChange } = form.field("servers");
  const read = readJson(text);
  const written = "value" in read && isTree(read.value) ? read.value : null;
  const presets = presetsOf(preconfigured);
  return (
    <Panel
      title="MCP servers"
      about={
        <>
          Tools that {agentName(executor)} can use, in{" "}
          <code className="break-all font-mono text-xs">{answer.config_path}</code>
          {is_toml_config && ", written there as TOML"}.
        </>
      }
      form={form}
      blocked={written === null}
    >
      <ul className="grid gap-2 sm:grid-cols-2">
        {presets.map(({ id, name, about, server }) => {
          const there = written !== null && id in written;
          return (
            <li key={id} className="flex items-center gap-3 rounded-md border border-line py-1.5 pr-1.5 pl-3">
              <div className="min-w-0 flex-1">
                <p className="truncate text-sm">{name}</p>
                <p className="truncate text-faint text-xs" title={about}>
                  {about}
                </p>
              </div>
              <Button
                size="sm"
                disabled={there || written === null}
                icon={there ? undefined : <Plus className="size-4" aria-hidden />}
                aria-label={there ? `${name} is added` : `Add ${name}`}
                onClick={() => onChange(JSON.stringify({ ...written, [id]: server }, null, 2))}
              >
                {there ? "Added" : "Add"}
              </Button>
            </li>
          );
        })}
      </ul>
      <JsonEditor label="Servers by name" value={text} rows={10} onChange={onChange} />
      {"value" in read && written === null && (
        <Problem look="xs">Servers are an object by name, such as {"{}"}.</Problem>
      )}
    </Panel>
  );
}
