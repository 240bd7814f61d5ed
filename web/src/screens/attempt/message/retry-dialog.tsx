// Going back to a message and saying it differently. Says what is taken back before it is.

import type { ExecutionProcess, TaskAttempt } from "@forge/client";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { forge } from "../../../api/forge";
import { branchStatusQuery, commitDistanceQuery } from "../../../api/queries/review";
import { useDraftText } from "../../../kept/draft";
import { Switch, TextArea } from "../../../ui/field";
import { FormDialog } from "../../../ui/form-dialog";
import { count } from "../../../ui/format";
import { toast } from "../../../ui/toast";
import { promptOf } from "../attempt-standing";

interface Props {
  attempt: TaskAttempt;
  process: ExecutionProcess;
  /** How many processes came after it. */
  later: number;
  onClose: () => void;
}

export function RetryDialog({ attempt, process, later, onClose }: Props) {
  const [prompt, setPrompt, clearPrompt] = useDraftText(`retry.${process.id}`, promptOf(process));
  const [isReset, setReset] = useState(true);
  const [isForced, setForced] = useState(false);
  const { data: branch } = useQuery(branchStatusQuery(attempt.id));
  const before = process.before_head_commit;
  const { data: distance } = useQuery({ ...commitDistanceQuery(attempt.id, before ?? ""), enabled: before !== null });
  const dirty = (branch?.uncommitted_count ?? 0) + (branch?.untracked_count ?? 0);
  const isBlocked = isReset && Boolean(branch?.has_uncommitted_changes) && !isForced;

  const retry = useMutation({
    mutationFn: () =>
      forge.request("POST /api/task-attempts/{attempt_id}/replace-process", {
        path: { attempt_id: attempt.id },
        body: { process_id: process.id, prompt, perform_git_reset: isReset, force_when_dirty: isForced },
      }),
    onSuccess: ({ git_reset_needed, git_reset_applied }) => {
      clearPrompt();
      if (isReset && git_reset_needed && !git_reset_applied) toast.failed("Couldn't restore the files.");
      onClose();
    },
  });

  return (
    <FormDialog
      onClose={onClose}
      title="Retry from here"
      about={
        later > 0
          ? `This message and ${count(later, "process", "processes")} after it leave the transcript.`
          : "The agent's answer to this message leaves the transcript."
      }
      verb="Retry"
      busy={retry.isPending}
      blocked={prompt.trim() === ""}
      onSubmit={() => retry.mutate()}
    >
      <TextArea label="Message" rows={6} value={prompt} onChange={(event) => setPrompt(event.target.value)} />
      <Switch
        label="Also restore files"
        hint={resetHint(distance?.ahead_from_head, dirty)}
        checked={isReset}
        onChange={setReset}
      />
      {isReset && branch?.has_uncommitted_changes && (
        <Switch
          label="Also discard changes that are not committed"
          hint={
            isBlocked
              ? `Without this the files stay as they are: ${count(dirty, "file")} changed since the last commit.`
              : "They are kept aside like everything that is taken back."
          }
          checked={isForced}
          onChange={setForced}
        />
      )}
    </FormDialog>
  );
}

function resetHint(commits: number | undefined, dirty: number): string {
  const parts = [
    commits ? count(commits, "commit") : undefined,
    dirty > 0 ? `${count(dirty, "file")} not committed` : undefined,
  ].filter(Boolean);
  if (commits === 0 && dirty === 0) return "Nothing has changed since then.";
  const what = parts.length > 0 ? `Takes back ${parts.join(" and ")}. ` : "";
  return `${what}What is taken back is kept under refs/forge/keep.`;
}
