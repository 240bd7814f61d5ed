// The transcript with what belongs under it: questions, the agent's list, the message box.

import type { ExecutionProcess, PendingApproval, TaskAttempt } from "@forge/client";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { forge } from "../../api/forge";
import { infoQuery } from "../../api/queries";
import { useCommands } from "../../shell/commands";
import { toast } from "../../ui/toast";
import { ApprovalBar } from "./approval-bar";
import { Composer } from "./composer";
import { RetryDialog } from "./retry-dialog";
import { isAtWork, isWork, profileOf } from "./standing";
import { Todos } from "./todos";
import { Transcript, type TranscriptHandle } from "./transcript";
import { useEntries } from "./use-entries";

interface Props {
  attempt: TaskAttempt;
  processes: readonly ExecutionProcess[];
  isWaiting: boolean;
  waiting: readonly PendingApproval[];
  onSwitchAgent: () => void;
}

export function LogView({ attempt, processes, isWaiting, waiting, onSwitchAgent }: Props) {
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
  const canSetUp = info?.capabilities[attempt.executor]?.includes("SETUP_HELPER");
  useCommands([
    {
      id: "attempt-newest",
      label: "Jump to the newest",
      group: "Attempt",
      keys: "j",
      run: () => transcript.current?.toEnd(),
    },
  ]);
  return (
    <>
      <Transcript
        handle={transcript}
        attempt={attempt}
        processes={processes}
        isWaiting={isWaiting}
        isAsking={waiting.length > 0}
        onRetry={setRetried}
        onSetUp={canSetUp ? () => setUp.mutate() : undefined}
      />
      <div className="shrink-0 border-line border-t bg-canvas">
        <div className="mx-auto flex w-full max-w-4xl flex-col gap-2 px-4 py-3">
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

function CurrentTodos({ process }: { process: ExecutionProcess }) {
  const told = useEntries([process]);
  const todos = told.get(process.id)?.value.todos;
  return todos && todos.length > 0 ? <Todos items={todos} /> : null;
}
