import type { TaskAttemptDetail } from "@forge/client";
import { GitMerge } from "lucide-react";
import { forge } from "../../api/forge";
import { useDraftText } from "../../kept/draft";
import { TextArea } from "../../ui/field";
import { FormDialog } from "../../ui/form-dialog";
import { toast } from "../../ui/toast";
import type { Acts } from "./acts";
import { AttemptOverlaps, TargetConflict } from "./radar";

interface Props {
  attempt: TaskAttemptDetail;
  target: string;
  acts: Acts;
  onClose: () => void;
}

/** The last look before the work lands: one commit, and its message. */
export function MergeDialog({ attempt, target, acts, onClose }: Props) {
  const [message, setMessage, clearMessage] = useDraftText(`merge.${attempt.id}`);
  const merge = async (): Promise<void> => {
    const body = message.trim() ? { message: message.trim() } : undefined;
    const path = { attempt_id: attempt.id };
    const isDone = await acts.run("merge", () =>
      forge.request("POST /api/task-attempts/{attempt_id}/merge", { path, body }),
    );
    if (isDone) {
      clearMessage();
      toast.done(`Merged into ${target}`);
    }
    // A refusal is said under the bar, with what helps against it.
    onClose();
  };
  return (
    <FormDialog
      onClose={onClose}
      title={`Merge into ${target}`}
      about="Squashes the changes into one commit and marks the task done."
      verb="Merge"
      icon={<GitMerge className="size-4" aria-hidden />}
      busy={acts.busy === "merge"}
      onSubmit={() => void merge()}
      className="flex flex-col gap-3"
    >
      <TargetConflict projectId={attempt.project_id} attemptId={attempt.id} />
      <div className="-ml-1.5 empty:hidden">
        <AttemptOverlaps projectId={attempt.project_id} attemptId={attempt.id} />
      </div>
      <TextArea
        label="Commit message"
        rows={4}
        className="font-mono text-xs"
        value={message}
        placeholder={attempt.task.title}
        hint="Leave empty to use the agent's summary."
        onChange={(event) => setMessage(event.target.value)}
      />
    </FormDialog>
  );
}
