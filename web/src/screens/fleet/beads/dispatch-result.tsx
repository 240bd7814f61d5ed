import type { DispatchReport } from "@forge/client";
import { count } from "../../../ui/format";
import { modelName, REASON, TIER } from "../fleet-words";
import { AttemptLink, WorkerLink } from "../links";
import { ScoreBar } from "../routing/score-bar";

/** What a round of dispatch started or would start, and what waits and why. */
export function DispatchResult({ report: { dry_run, started, waiting } }: { report: DispatchReport }) {
  const verb = dry_run ? "would start" : "started";
  return (
    <div className="flex flex-col gap-3 rounded-md border border-line p-3 text-sm">
      <p className="font-medium">
        {started.length === 0 ? `Nothing ${verb}` : `${count(started.length, "bead")} ${verb}`}
      </p>
      {started.length > 0 && (
        <ul className="flex flex-col gap-2">
          {started.map(({ bead, title, score, decision, attempt_id, worker }) => (
            <li key={bead} className="flex flex-col gap-1">
              <p>
                <span className="font-mono text-faint text-xs">{bead}</span> {title}
              </p>
              <p className="flex flex-wrap items-center gap-x-2 text-muted text-xs">
                <ScoreBar score={score} />
                {modelName(decision.model)} · {TIER[decision.tier].title} · {REASON[decision.reason].title}
                {worker ? <WorkerLink worker={worker} /> : attempt_id && <AttemptLink attemptId={attempt_id} />}
              </p>
            </li>
          ))}
        </ul>
      )}
      {waiting.length > 0 && (
        <>
          <p className="font-medium">{count(waiting.length, "bead waits", "beads wait")}</p>
          <ul className="flex flex-col gap-2">
            {waiting.map(({ bead, title, reason }) => (
              <li key={bead}>
                <p>
                  <span className="font-mono text-faint text-xs">{bead}</span> {title}
                </p>
                <p className="text-muted text-xs">{reason}</p>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
