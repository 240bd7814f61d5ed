// The agents that were looked for on the machine where Forge runs, and how to get the others.

import type { FoundAgent } from "@forge/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { RefreshCw } from "lucide-react";
import type { ReactNode } from "react";
import { agentsQuery } from "../../../api/queries/settings";
import { useAgentCheck } from "../../../parts/agent-needs";
import { MISSING, missingOf } from "../../../parts/agents";
import { Badge, type Tone } from "../../../ui/badge";
import { Button } from "../../../ui/button";
import { cx } from "../../../ui/class";
import { CopyCommand } from "../../../ui/copy";
import { agentName, count } from "../../../ui/format";
import { Failure } from "../../../ui/state";
import { toast } from "../../../ui/toast";
import { Panel } from "../form/section-panel";

interface Props {
  executors: readonly string[];
  chosen: string;
}

export function FoundAgents({ executors, chosen }: Props) {
  const { data: agents, error, refetch } = useQuery(agentsQuery());
  const check = useAgentCheck();
  // Some have no program of their own to look for.
  const others = executors.filter((executor) => !agents?.some((agent) => agent.executor === executor));
  const look = (): void =>
    check.mutate(undefined, {
      onSuccess: (fresh) => toast.done(`${count(fresh.filter(({ ready }) => ready).length, "agent")} ready`),
    });
  return (
    <Panel
      title="On this machine"
      about="Choose one to see how it is run."
      actions={
        <Button size="sm" busy={check.isPending} icon={<RefreshCw className="size-4" aria-hidden />} onClick={look}>
          Refresh
        </Button>
      }
    >
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {!error && (
        <ul className="min-h-[27rem] divide-y divide-line overflow-hidden rounded-md border border-line">
          {agents?.map((agent) => (
            <Row key={agent.executor} agent={agent} chosen={agent.executor === chosen} />
          ))}
          {agents &&
            others.map((executor) => <Other key={executor} executor={executor} chosen={executor === chosen} />)}
        </ul>
      )}
    </Panel>
  );
}

function standingOf(agent: FoundAgent): { word: string; tone: Tone } {
  const missing = missingOf(agent);
  if (!missing) return { word: "Ready", tone: "good" };
  return { word: MISSING[missing], tone: missing === "not_installed" ? "neutral" : "warn" };
}

function Row({ agent, chosen }: { agent: FoundAgent; chosen: boolean }) {
  const { executor, name, program, version, found, path, ready, install, log_in } = agent;
  const { word, tone } = standingOf(agent);
  return (
    <li className={cx(chosen && "bg-canvas")}>
      <Chooser executor={executor} chosen={chosen}>
        <span className={cx("truncate", chosen && "font-medium")}>{name}</span>
        <span className="min-w-0 flex-1 truncate font-mono text-faint text-xs" title={path ?? undefined}>
          {found === "npx" ? "npx" : found === null ? program : (path ?? "built in")}
        </span>
        {version && <span className="hidden max-w-32 truncate text-faint text-xs tabular sm:block">{version}</span>}
        <Badge tone={tone}>{word}</Badge>
      </Chooser>
      {chosen && !ready && (
        <dl className="grid grid-cols-[4rem_1fr] items-center gap-x-3 gap-y-1.5 px-3 pt-1 pb-3">
          {found !== "path" && found !== "login_path" && (
            <>
              <dt className="text-faint text-xs">Install</dt>
              <dd className="min-w-0">
                <CopyCommand command={install} />
              </dd>
            </>
          )}
          {log_in && (
            <>
              <dt className="text-faint text-xs">Log in</dt>
              <dd className="min-w-0">
                <CopyCommand command={log_in} />
              </dd>
            </>
          )}
        </dl>
      )}
    </li>
  );
}

function Chooser({ executor, chosen, children }: { executor: string; chosen: boolean; children: ReactNode }) {
  return (
    <Link
      to="/settings/$section"
      params={{ section: "agents" }}
      search={{ agent: executor }}
      replace
      resetScroll={false}
      aria-current={chosen ? "true" : undefined}
      className={cx(
        "flex min-h-9 items-center gap-3 border-l-2 px-3 text-sm hover:bg-hover focus-visible:-outline-offset-2 pointer-coarse:min-h-11",
        chosen ? "border-accent" : "border-transparent",
      )}
    >
      {children}
    </Link>
  );
}

function Other({ executor, chosen }: { executor: string; chosen: boolean }) {
  return (
    <li className={cx(chosen && "bg-canvas")}>
      <Chooser executor={executor} chosen={chosen}>
        <span className={cx("flex-1 truncate", chosen && "font-medium")}>{agentName(executor)}</span>
        <Badge>Custom command</Badge>
      </Chooser>
    </li>
  );
}
