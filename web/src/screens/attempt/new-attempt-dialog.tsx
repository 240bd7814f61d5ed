// Another attempt at the same task: with another agent, from where this one stands or from the beginning.

import type { TaskAttempt } from "@forge/client";
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { forge } from "../../api/forge";
import { type AgentChoice, AgentPicker } from "../../parts/agent-picker";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { Select } from "../../ui/field";

interface Props {
  attempt: TaskAttempt;
  /** Where it begins at first: at this attempt's work, or anew. */
  from: "here" | "anew";
  onClose: () => void;
}

export function NewAttemptDialog({ attempt, from, onClose }: Props) {
  const navigate = useNavigate();
  const { executor, variant = null, model = null } = attempt.executor_profile_id;
  const [agent, setAgent] = useState<AgentChoice>({ executor, variant, model });
  const [base, setBase] = useState(from === "here" ? attempt.branch : attempt.target_branch);
  const start = useMutation({
    mutationFn: () =>
      forge.createTaskAttempt({ task_id: attempt.task_id, executor_profile_id: agent, base_branch: base }),
    onSuccess: ({ id: attemptId }) => {
      onClose();
      const { project_id: projectId, task_id: taskId } = attempt;
      void navigate({
        to: "/projects/$projectId/tasks/$taskId/attempts/$attemptId",
        params: { projectId, taskId, attemptId },
      });
    },
  });
  const footer = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button weight="primary" busy={start.isPending} onClick={() => start.mutate()}>
        Start
      </Button>
    </>
  );
  const isOnTop = base === attempt.branch;
  return (
    <Dialog
      open
      onOpenChange={(open) => open || onClose()}
      title={from === "here" ? "Switch agent" : "New attempt"}
      about="The agent works on the same task in a worktree of its own. This attempt stays as it is."
      footer={footer}
    >
      <div className="flex flex-col gap-4">
        <AgentPicker projectId={attempt.project_id} value={agent} onChange={setAgent} />
        <Select
          label="Begins at"
          hint={
            isOnTop
              ? "It sees what is committed here, and its work merges back into this attempt's branch."
              : "It sees nothing of this attempt."
          }
          value={base}
          onChange={(event) => setBase(event.target.value)}
          options={[
            { value: attempt.branch, label: `This attempt (${attempt.branch})` },
            { value: attempt.target_branch, label: attempt.target_branch },
          ]}
        />
      </div>
    </Dialog>
  );
}
