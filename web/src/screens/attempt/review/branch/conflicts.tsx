// A rebase or merge that stopped: which files, and the ways out.

import type { BranchStatus } from "@forge/client";
import { useNavigate } from "@tanstack/react-router";
import { Bot, SquareArrowOutUpRight, TriangleAlert } from "lucide-react";
import { forge } from "../../../../api/forge";
import type { Acts } from "../../../../parts/branch/acts";
import { openInEditor } from "../../../../parts/editor";
import { Button } from "../../../../ui/button";
import { useConfirm } from "../../../../ui/dialog";
import { Problem } from "../../../../ui/state";
import { toast } from "../../../../ui/toast";
import { conflictTitle, isStopped, OPERATION, wasLeftOpen } from "./resolve";

interface Props {
  attemptId: string;
  status: BranchStatus;
  acts: Acts;
  isRunning: boolean;
}

export function Conflicts({ attemptId, status, acts, isRunning }: Props) {
  const navigate = useNavigate();
  const { ask, dialog } = useConfirm();
  const files = status.conflicted_files;
  if (!isStopped(status)) return null;
  const operation = OPERATION[status.conflict_op ?? "rebase"];
  const path = { attempt_id: attemptId };
  const resolve = async (): Promise<void> => {
    const isStarted = await acts.run("resolve", () =>
      forge.request("POST /api/task-attempts/{attempt_id}/conflicts/resolve", { path }),
    );
    if (isStarted) void navigate({ to: ".", search: (before) => ({ ...before, view: "log" }) });
  };
  const abort = (): void =>
    ask({
      title: `Abort the ${operation}?`,
      about: "The branch goes back to where it was. What was resolved so far is kept under refs/forge/undo.",
      verb: "Abort",
      onConfirm: async () => {
        const isDone = await acts.run("abort", () => forge.abortTaskAttemptConflicts(attemptId));
        if (isDone) toast.done(`The ${operation} was aborted`);
      },
    });
  return (
    <section aria-label="Conflicts" className="shrink-0 border-line border-b bg-warn-soft px-3 py-3 short:py-1.5">
      <div className="flex flex-wrap items-start gap-x-4 gap-y-3">
        <div className="min-w-0 flex-1 basis-64">
          <Problem look="plain">
            <h2 className="flex items-center gap-2 font-medium text-sm">
              <TriangleAlert className="size-4 shrink-0 text-warn" aria-hidden />
              {conflictTitle(status)}
            </h2>
          </Problem>
          <ul
            hidden={wasLeftOpen(status) && files.length === 1}
            className="mt-1 max-h-32 overflow-y-auto pl-6 font-mono text-xs leading-5 short:max-h-5"
          >
            {files.map((file) => (
              <li key={file} className="truncate" title={file}>
                {file}
              </li>
            ))}
          </ul>
        </div>
        <div className="flex flex-wrap gap-2">
          <Button size="sm" disabled={acts.busy !== undefined} busy={acts.busy === "abort"} onClick={abort}>
            Abort
          </Button>
          <Button
            size="sm"
            icon={<SquareArrowOutUpRight className="size-4" aria-hidden />}
            onClick={() => void openInEditor(attemptId, files[0])}
          >
            Open in editor
          </Button>
          <Button
            size="sm"
            weight="primary"
            disabled={isRunning || acts.busy !== undefined}
            busy={acts.busy === "resolve"}
            icon={<Bot className="size-4" aria-hidden />}
            onClick={() => void resolve()}
          >
            {wasLeftOpen(status) ? "Try again" : "Ask the agent to resolve"}
          </Button>
        </div>
      </div>
      {dialog}
    </section>
  );
}
