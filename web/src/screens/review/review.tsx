// The review of an attempt: how its branch stands, what is in the way of landing it, and its changes.
// Invariant: a retired attempt is not asked about: asking would bring back its worktree without what was kept.

import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { attemptQuery } from "../../api/queries";
import { Failure, Waiting } from "../../ui/state";

const Changes = lazy(() => import("./changes"));

interface Props {
  projectId: string;
  taskId: string;
  attemptId: string;
}

export function Review({ projectId, attemptId }: Props) {
  const { data: attempt, error, refetch } = useQuery(attemptQuery(attemptId));
  if (error && !attempt) return <Failure error={error} onRetry={() => void refetch()} />;
  if (!attempt) return <Waiting what="Loading" />;
  const isRunning = attempt.status === "running" || attempt.status === "pending";
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="min-h-0 flex-1">
        <Suspense fallback={<Waiting what="Loading changes" />}>
          <Changes key={attemptId} projectId={projectId} attemptId={attemptId} isRunning={isRunning} />
        </Suspense>
      </div>
    </div>
  );
}
