// The transcript with what belongs under it: questions, the agent's list, the message box.

import type { ExecutionProcess, PendingApproval, TaskAttempt } from "@forge/client";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { forge } from "../../../api/forge";
import { branchStatusQuery } from "../../../api/queries/review";
import { infoQuery } from "../../../api/queries/settings";
import { useActs } from "../../../parts/branch/acts";
import { bind } from "../../../shell/action";
import { useCommands } from "../../../shell/commands";
import { Problem, Reason } from "../../../ui/state";
import { toast } from "../../../ui/toast";
import { LOG } from "../actions";
import { isAtWork, isWork, profileOf, promptOf } from "../attempt-standing";
import { ApprovalBar } from "../message/approval-bar";
import { Composer } from "../message/composer";
import { RetryDialog } from "../message/retry-dialog";
import { Conflicts } from "../review/branch/conflicts";
import { isStopped } from "../review/branch/resolve";
import { Todos } from "./todos";
import { Transcript, type TranscriptHandle } from "./transcript";
import { useEntries } from "./use-entries";

interface Props {
  attempt: TaskAttempt;
  processes: readonly ExecutionProcess[];
  isWaiting: boolean;
  waiting: readonly PendingApproval[];
  /** On top of this attempt's work. */
  onSwitchAgent: () => void;
  /** Beside this attempt, which came to nothing. */
  onOtherAgent: () => void;
}

export function LogView({ attempt, processes, isWaiting, waiting, onSwitchAgent, onOtherAgent }: Props) {
  const transcript = useRef<TranscriptHandle>(null);
  const [retried, setRetried] = useState<ExecutionProcess>();
  const last = processes.findLast(({ run_reason }) => run_reason === "codingagent");
  const isRunning = isAtWork(processes);
  const setUp = useMutation({
    mutationFn: () =>
      forge.request("POST /api/task-attempts/{attempt_id}/run-agent-setup", {
        path: { attempt_id: attempt.id },
        body: { executor_profile_id: attempt.executor_profile_id },
      }),
    onSuccess: () => toast.done("Setting up the agent"),
  });
  const { data: info } = useQuery(infoQuery());
  const canSetUp = info?.capabilities[attempt.executor_profile_id.executor]?.includes("SETUP_HELPER");
  const again = useMutation({
    mutationFn: (process: ExecutionProcess) =>
      forge.request("POST /api/task-attempts/{attempt_id}/replace-process", {
        path: { attempt_id: attempt.id },
        body: { process_id: process.id, prompt: promptOf(process) ?? "", perform_git_reset: true },
      }),
    onSuccess: () => transcript.current?.toEnd(),
  });
  /** Said again as it was; what came after it is not taken back without a question. */
  const sayAgain = (processId: string): void => {
    const process = processes.find(({ id }) => id === processId);
    if (!process || again.isPending) return;
    if (process.id === last?.id) again.mutate(process);
    else setRetried(process);
  };
  useCommands([bind(LOG.newest, () => transcript.current?.toEnd())]);
  return (
    <>
      <Transcript
        handle={transcript}
        processes={processes}
        isWaiting={isWaiting}
        isAsking={waiting.length > 0}
        actions={{
          attempt,
          onRetry: setRetried,
          onSetUp: canSetUp ? () => setUp.mutate() : undefined,
          onAgain: sayAgain,
          onOtherAgent,
        }}
      />
      <div className="shrink-0 border-line border-t bg-canvas">
        <div className="mx-auto flex w-full max-w-4xl flex-col gap-2 px-4 py-3">
          {last?.open_conflicts && !isRunning && <LeftOpen attempt={attempt} />}
          <ApprovalBar waiting={waiting} onShow={(id) => transcript.current?.showApproval(id)} />
          {last && <CurrentTodos process={last} />}
          <Composer
            attempt={attempt}
            variant={(last && profileOf(last)?.variant) ?? null}
            isRunning={isRunning}
            onSwitchAgent={onSwitchAgent}
            onSent={() => transcript.current?.toEnd()}
          />
        </div>
      </div>
      {retried && (
        <RetryDialog
          attempt={attempt}
          process={retried}
          later={processes.slice(processes.findIndex(({ id }) => id === retried.id) + 1).filter(isWork).length}
          onClose={() => setRetried(undefined)}
        />
      )}
    </>
  );
}

/** The agent's turn ended with conflicts: said where it ended, with the ways on. */
function LeftOpen({ attempt }: { attempt: TaskAttempt }) {
  const { data: status } = useQuery(branchStatusQuery(attempt.id));
  const acts = useActs(attempt.id);
  if (!status || !isStopped(status)) return null;
  return (
    <div className="overflow-hidden rounded-md border border-warn">
      <Conflicts attemptId={attempt.id} status={status} acts={acts} isRunning={false} />
      <Problem look="box" className="rounded-none">
        {acts.refusal && <Reason text={acts.refusal.text} hint={acts.refusal.hint} />}
      </Problem>
    </div>
  );
}

function CurrentTodos({ process }: { process: ExecutionProcess }) {
  const entries = useEntries([process]);
  const todos = entries.get(process.id)?.value.todos;
  return todos && todos.length > 0 ? <Todos items={todos} /> : null;
}
