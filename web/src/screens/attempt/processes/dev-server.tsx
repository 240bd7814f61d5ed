// The dev server of an attempt: start and stop it, and the way to the page that it serves.

import type { ExecutionProcess, TaskAttempt } from "@forge/client";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ExternalLink, Play } from "lucide-react";
import { forge } from "../../../api/forge";
import { projectsQuery } from "../../../api/queries/project";
import { useChannel } from "../../../live/channel";
import { rawLogChannel } from "../../../live/raw-log";
import { Dot } from "../../../ui/badge";
import { Button } from "../../../ui/button";
import { devAddress } from "./dev-address";
import { StopProcess } from "./processes-view";

interface Props {
  attempt: TaskAttempt;
  processes: readonly ExecutionProcess[];
}

export function DevServer({ attempt, processes }: Props) {
  const { data: projects } = useQuery(projectsQuery());
  const start = useMutation({ mutationFn: () => forge.startDevServer(attempt.id) });
  const server = processes.findLast(({ run_reason, status }) => run_reason === "devserver" && status === "running");
  const hasScript = projects?.find(({ id }) => id === attempt.project_id)?.dev_script;
  return (
    <section aria-labelledby="dev-server-title">
      <h2 id="dev-server-title" className="mb-2 font-medium text-sm">
        Dev server
      </h2>
      <div className="flex min-h-13 flex-wrap items-center gap-3 rounded-md border border-line bg-surface px-3 py-2 text-sm">
        <Dot tone={server ? "good" : "neutral"} alive={Boolean(server)} />
        {server ? (
          <>
            <span>Running</span>
            <Address processId={server.id} />
            <span className="ml-auto">
              <StopProcess id={server.id} />
            </span>
          </>
        ) : (
          <>
            <span className="min-w-0 flex-1 text-muted">
              {hasScript ? (
                "Not running. Starting it stops the dev server of any other attempt."
              ) : (
                <>
                  The project has no dev server script.{" "}
                  <Link
                    to="/settings/$section"
                    params={{ section: "projects" }}
                    search={{ project: attempt.project_id }}
                    className="underline underline-offset-2 hover:text-ink"
                  >
                    Add one in the settings
                  </Link>
                </>
              )}
            </span>
            {hasScript && (
              <Button
                size="sm"
                busy={start.isPending}
                icon={<Play className="size-3.5" aria-hidden />}
                onClick={() => start.mutate()}
              >
                Start
              </Button>
            )}
          </>
        )}
      </div>
    </section>
  );
}

function Address({ processId }: { processId: string }) {
  const { value: log } = useChannel(rawLogChannel(processId));
  const address = devAddress(log.lines);
  if (address === undefined) return <span className="text-faint">Waiting for a URL…</span>;
  return (
    <a
      href={address}
      target="_blank"
      rel="noreferrer"
      className="inline-flex min-h-6 items-center gap-1.5 text-accent underline underline-offset-2"
    >
      {address}
      <ExternalLink className="size-3.5" aria-hidden />
    </a>
  );
}
