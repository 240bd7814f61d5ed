// The review of an attempt: how its branch stands, what is in the way of landing it, and its changes.

import type { TaskAttemptDetail } from "@forge/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { attemptQuery } from "../../../api/queries/attempt";
import { branchStatusQuery } from "../../../api/queries/review";
import { useActs } from "../../../parts/branch/acts";
import { TargetConflict } from "../../../parts/branch/radar";
import { RETIRE_QUESTION, retire } from "../../../parts/branch/retire";
import { isLive } from "../../../parts/status";
import { useConfirm } from "../../../ui/dialog";
import { Failure, Waiting } from "../../../ui/state";
import { BranchBar } from "./branch/branch-bar";
import { Conflicts } from "./branch/conflicts";
import { landedAs } from "./branch/landed";
import { isStopped } from "./branch/resolve";
import { Retired } from "./branch/retired";

const Changes = lazy(() => import("./changes"));

export function Review({ attemptId }: { attemptId: string }) {
  const { data: attempt, error, refetch } = useQuery(attemptQuery(attemptId));
  const acts = useActs(attemptId);
  if (error && !attempt) return <Failure error={error} onRetry={() => void refetch()} />;
  if (!attempt) return <Waiting what="Loading" />;
  return <Present key={attemptId} attempt={attempt} acts={acts} />;
}

function Present({ attempt, acts }: { attempt: TaskAttemptDetail; acts: ReturnType<typeof useActs> }) {
  const queries = useQueryClient();
  const { ask, dialog } = useConfirm();
  const isRunning = isLive(attempt.status);
  const { data: status, error, refetch } = useQuery(branchStatusQuery(attempt.id));
  const askToRetire = (): void =>
    ask({ ...RETIRE_QUESTION, onConfirm: () => acts.run("retire", () => retire(queries, attempt)) });
  return (
    // On a low screen the bars scroll away and leave the room to the changes.
    <div className="flex h-full min-h-0 flex-col short:overflow-y-auto">
      {attempt.worktree_deleted ? (
        <Retired attempt={attempt} acts={acts} />
      ) : (
        <BranchBar attempt={attempt} status={status} acts={acts} isRunning={isRunning} onRetire={askToRetire} />
      )}
      {error && !status && <Failure error={error} onRetry={() => void refetch()} />}
      {status && <Conflicts attemptId={attempt.id} status={status} acts={acts} isRunning={isRunning} />}
      <div className="shrink-0 border-line border-b px-3 py-2 empty:hidden short:py-0.5">
        {/* A rebase that has stopped says more about it. */}
        {!(status && isStopped(status)) && <TargetConflict projectId={attempt.project_id} attemptId={attempt.id} />}
      </div>
      <div className="min-h-0 flex-1 short:h-full short:flex-none">
        <Suspense fallback={<Waiting what="Loading changes" />}>
          <Changes
            projectId={attempt.project_id}
            attemptId={attempt.id}
            isRunning={isRunning}
            isLanded={landedAs(status) !== undefined}
          />
        </Suspense>
      </div>
      {dialog}
    </div>
  );
}
