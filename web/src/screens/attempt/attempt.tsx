// The screen of one attempt: its head, its tabs, and the view that the address names.

import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Compass } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { approvalsQuery } from "../../api/queries/attempt";
import { attemptsQuery, taskQuery } from "../../api/queries/task";
import { useChannel } from "../../live/channel";
import { processesChannel } from "../../live/processes";
import { bind } from "../../shell/action";
import { useCommands } from "../../shell/commands";
import { useTitle } from "../../shell/title";
import { Empty, Failure, Waiting } from "../../ui/state";
import { ATTEMPT_VIEWS } from "../../views";
import { ATTEMPT } from "./actions";
import { AttemptMenu } from "./attempt-menu";
import { AttemptHeader } from "./header";
import { LogView } from "./log/log-view";
import { Tabs } from "./tabs";

const ROUTE = "/projects/$projectId/tasks/$taskId/attempts/$attemptId";

const Review = lazy(() => import("./review/review").then(({ Review }) => ({ default: Review })));
const RawView = lazy(() => import("./raw/raw-view").then(({ RawView }) => ({ default: RawView })));
const ProcessesView = lazy(() =>
  import("./processes/processes-view").then(({ ProcessesView }) => ({ default: ProcessesView })),
);
const StartAttempt = lazy(() =>
  import("../../parts/task/start-attempt").then(({ StartAttempt }) => ({ default: StartAttempt })),
);

export function AttemptScreen() {
  const { attemptId } = useParams({ from: ROUTE });
  // Another attempt is another screen: nothing that was typed or scrolled in one belongs to the other.
  return <Screen key={attemptId} />;
}

function Screen() {
  const { projectId, taskId, attemptId } = useParams({ from: ROUTE });
  const { view = "log", process: processId } = useSearch({ from: ROUTE });
  const navigate = useNavigate();
  const task = useQuery(taskQuery(projectId, taskId));
  const attempts = useQuery(attemptsQuery(taskId));
  const { value: processes, phase } = useChannel(processesChannel(attemptId));
  const { data: approvals } = useQuery(approvalsQuery());
  const [newFrom, setNewFrom] = useState<"here" | "afresh" | "other">();
  useTitle(task.data?.title ?? "Attempt");
  useCommands([
    bind(ATTEMPT.back, () => void navigate({ to: "/projects/$projectId/tasks", params: { projectId } })),
    ...ATTEMPT_VIEWS.map((view) =>
      bind(ATTEMPT[view], () => {
        const search = view === "log" ? {} : { view };
        void navigate({ to: ROUTE, params: { projectId, taskId, attemptId }, search });
      }),
    ),
    bind(ATTEMPT.new, () => setNewFrom("afresh")),
  ]);

  const error = attempts.error ?? task.error;
  if (error) return <Failure error={error} onRetry={() => void attempts.refetch()} />;
  if (!attempts.data || !task.data) return <Waiting what="Loading the attempt" />;
  const attempt = attempts.data.find(({ id }) => id === attemptId);
  if (!attempt) {
    return (
      <Empty icon={<Compass aria-hidden />} title="Attempt not found">
        The link may be old, or the attempt was deleted with its task.
      </Empty>
    );
  }
  const ids = new Set(processes.map(({ id }) => id));
  const waiting = approvals?.filter(({ execution_process_id: id }) => id !== null && ids.has(id)) ?? [];
  const isWaiting = phase === "connecting" || (phase === "reconnecting" && processes.length === 0);
  return (
    <div className="flex h-full min-h-0 flex-col">
      <AttemptHeader
        title={task.data.title}
        attempt={attempt}
        attempts={attempts.data}
        processes={processes}
        waiting={waiting.length}
        onNewAttempt={() => setNewFrom("afresh")}
        menu={<AttemptMenu attempt={attempt} processes={processes} />}
      />
      <Tabs view={view} attempt={attempt} processes={processes} />
      <Suspense fallback={<Waiting what="Loading" />}>
        {view === "log" && (
          <LogView
            attempt={attempt}
            processes={processes}
            isWaiting={isWaiting}
            waiting={waiting}
            onSwitchAgent={() => setNewFrom("here")}
            onOtherAgent={() => setNewFrom("other")}
          />
        )}
        {view === "raw" && <RawView attempt={attempt} processes={processes} processId={processId} />}
        {view === "diffs" && (
          <div className="min-h-0 flex-1">
            <Review attemptId={attemptId} />
          </div>
        )}
        {view === "processes" && <ProcessesView attempt={attempt} processes={processes} isWaiting={isWaiting} />}
      </Suspense>
      {newFrom && (
        <Suspense fallback={null}>
          <StartAttempt
            projectId={projectId}
            taskId={taskId}
            origin={{ attempt, from: newFrom }}
            onClose={() => setNewFrom(undefined)}
          />
        </Suspense>
      )}
    </div>
  );
}
