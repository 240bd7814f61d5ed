import type { ExecutionProcess } from "@forge/client";
import { Link, useParams } from "@tanstack/react-router";
import { agentLabel } from "../../../parts/agents";
import { Elapsed } from "../../../ui/clock";
import { duration } from "../../../ui/format";
import { durationOf, profileOf, REASON } from "../attempt-standing";

/** A thin line between two processes: what it was, how long it took, what came of it. */
export function ProcessHead({ process }: { process: ExecutionProcess }) {
  const params = useParams({ from: "/projects/$projectId/tasks/$taskId/attempts/$attemptId" });
  const profile = profileOf(process);
  const took = durationOf(process);
  return (
    <div className="flex h-9 items-center gap-3 text-faint text-xs">
      <span className="h-px flex-1 bg-line" />
      <Link
        to="/projects/$projectId/tasks/$taskId/attempts/$attemptId"
        params={params}
        search={{ view: "raw", process: process.id }}
        title="Raw log of this process"
        className="inline-flex min-h-6 items-center gap-1.5 rounded-sm px-1 hover:text-ink"
      >
        <span>{profile ? agentLabel(profile) : REASON[process.run_reason]}</span>
        <span aria-hidden>·</span>
        <span className="tabular">{took === undefined ? <Elapsed since={process.started_at} /> : duration(took)}</span>
        <Result process={process} />
      </Link>
      <span className="h-px flex-1 bg-line" />
    </div>
  );
}

function Result({ process: { status, exit_code, commit_error } }: { process: ExecutionProcess }) {
  if (commit_error) {
    return (
      <span className="text-bad" title={commit_error}>
        not committed
      </span>
    );
  }
  if (status === "failed")
    return <span className="text-bad">failed{exit_code ? ` (exit code ${exit_code})` : ""}</span>;
  if (status === "killed") return <span>stopped</span>;
  return status === "running" ? <span className="text-accent">running</span> : null;
}
