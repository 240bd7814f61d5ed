// One of two attempts: which, how it stands, what it cost, and the button that chooses it.

import type { ExecutionProcess, ListedAttempt, TaskAttempt } from "@forge/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { GitMerge } from "lucide-react";
import { useState } from "react";
import { attemptQuery } from "../../api/queries/attempt";
import { useChannel } from "../../live/channel";
import type { Sum } from "../../live/diff";
import { processesChannel } from "../../live/processes";
import { agentLabel } from "../../parts/agents";
import { AttemptState } from "../../parts/attempt-state";
import { useActs } from "../../parts/branch/acts";
import { MergeDialog } from "../../parts/branch/merge-dialog";
import { Figures } from "../../parts/changed";
import { ATTEMPT_STATE, isLive } from "../../parts/status";
import { Badge } from "../../ui/badge";
import { Button, buttonClass } from "../../ui/button";
import { useNow } from "../../ui/clock";
import { Select } from "../../ui/field";
import { ago, count, duration, money } from "../../ui/format";
import { Problem, Reason } from "../../ui/state";

interface Props {
  letter: "A" | "B";
  attempt: TaskAttempt;
  attempts: readonly ListedAttempt[];
  sum: Sum | undefined;
  onPick: (attemptId: string) => void;
}

const label = (attempt: TaskAttempt, number: number): string =>
  `#${number} ${agentLabel(attempt.executor_profile_id)}, ${ATTEMPT_STATE[attempt.status].title.toLowerCase()}, ${ago(attempt.created_at)}`;

export function CompareHead({ letter, attempt, attempts, sum, onPick }: Props) {
  const [isMerging, setMerging] = useState(false);
  const { value: processes } = useChannel(processesChannel(attempt.id));
  const { data: detail } = useQuery(attemptQuery(attempt.id));
  const acts = useActs(attempt.id);
  const navigate = useNavigate();
  const isRunning = isLive(attempt.status);
  const review = {
    to: "/projects/$projectId/tasks/$taskId/attempts/$attemptId",
    params: { projectId: attempt.project_id, taskId: attempt.task_id, attemptId: attempt.id },
    search: { view: "diffs" },
  } as const;
  const landed = async (name: string, act: () => Promise<unknown>): Promise<boolean> => {
    const isDone = await acts.run(name, act);
    if (isDone) void navigate(review);
    return isDone;
  };
  return (
    <section aria-label={`Attempt ${letter}`} className="flex min-w-0 flex-col gap-3 p-4">
      <Select
        label={`Attempt ${letter}`}
        value={attempt.id}
        options={attempts.map((each, index) => ({ value: each.id, label: label(each, attempts.length - index) }))}
        onChange={(event) => onPick(event.target.value)}
      />
      <dl className="grid grid-cols-2 gap-x-4 gap-y-2 text-sm sm:grid-cols-3 [&_dd]:truncate [&_dt]:text-faint [&_dt]:text-xs">
        <div className="min-w-0">
          <dt>State</dt>
          <dd>
            <AttemptState status={attempt.status} />
          </dd>
        </div>
        <div className="min-w-0">
          <dt>Agent</dt>
          <dd>{agentLabel(attempt.executor_profile_id)}</dd>
        </div>
        <div className="min-w-0">
          <dt>Duration</dt>
          <dd className="tabular">
            <Worked processes={processes} />
          </dd>
        </div>
        <div className="min-w-0">
          <dt>Cost</dt>
          <dd className="tabular">{attempt.cost_usd === undefined ? "—" : money(attempt.cost_usd)}</dd>
        </div>
        <div className="min-w-0">
          <dt>Changes</dt>
          <dd className="flex items-center gap-2 tabular">
            {sum ? count(sum.files, "file") : "—"}
            {sum && <Figures additions={sum.additions} deletions={sum.deletions} />}
          </dd>
        </div>
        <div className="min-w-0">
          <dt>Checks</dt>
          <dd>
            <Checks processes={processes} />
          </dd>
        </div>
      </dl>
      <div className="flex flex-wrap gap-2">
        <Button
          size="sm"
          disabled={!detail || isRunning || sum?.files === 0}
          icon={<GitMerge className="size-4" aria-hidden />}
          onClick={() => setMerging(true)}
        >
          Choose {letter}
        </Button>
        <Link {...review} className={buttonClass("plain", "sm")}>
          Open review
        </Link>
      </div>
      <Problem look="box">{acts.refusal && <Reason text={acts.refusal.text} hint={acts.refusal.hint} />}</Problem>
      {isMerging && detail && (
        <MergeDialog
          attempt={detail}
          target={detail.target_branch}
          acts={{ ...acts, run: landed }}
          onClose={() => setMerging(false)}
        />
      )}
    </section>
  );
}

/** The time that the agent worked, not the time that has passed. */
function Worked({ processes }: { processes: readonly ExecutionProcess[] }) {
  const now = useNow();
  const turns = processes.filter((process) => process.run_reason === "codingagent");
  if (turns.length === 0) return "—";
  const times = turns.map(({ started_at, completed_at }) =>
    Math.max(0, (completed_at ? Date.parse(completed_at) : now) - Date.parse(started_at)),
  );
  return duration(times.reduce((sum, time) => sum + time, 0));
}

function Checks({ processes }: { processes: readonly ExecutionProcess[] }) {
  const script = processes.findLast((process) => process.run_reason === "cleanupscript");
  const turn = processes.findLast((process) => process.run_reason === "codingagent");
  if (script?.status === "failed") return <Badge tone="bad">Script failed</Badge>;
  if (turn?.unverified) return <Badge tone="warn">Unverified</Badge>;
  if (script?.status === "completed") return <Badge tone="good">Script passed</Badge>;
  return "—";
}
