// The two answers to a question: yes, or no with a reason for the agent.

import { useMutation } from "@tanstack/react-query";
import { Check, X } from "lucide-react";
import { forge } from "../../../api/forge";
import { useDraftText } from "../../../kept/draft";
import type { Action } from "../../../shell/action";
import { Button } from "../../../ui/button";
import { TextField } from "../../../ui/field";
import { LOG } from "../actions";

export function useAnswer(approvalId: string) {
  return useMutation({
    mutationFn: ({ isAllowed, reason }: { isAllowed: boolean; reason?: string }) =>
      forge.respondToApprovalRequest(approvalId, isAllowed, reason || undefined),
  });
}

interface Props {
  approvalId: string;
  answer: ReturnType<typeof useAnswer>;
  isDenying: boolean;
  onDenying: (isDenying: boolean) => void;
}

export function Answer({ approvalId, answer, isDenying, onDenying }: Props) {
  const [reason, keepReason, clearReason] = useDraftText(`approval.${approvalId}`);
  const busyWith = answer.isPending ? answer.variables.isAllowed : undefined;
  // Until the question is gone, an answer that was taken is not asked for again.
  const isOver = answer.isSuccess;
  if (isDenying) {
    return (
      <form
        className="flex flex-wrap items-center gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          answer.mutate({ isAllowed: false, reason }, { onSuccess: clearReason });
        }}
      >
        <div className="min-w-40 flex-1">
          <TextField
            label="Why not"
            hideLabel
            autoFocus
            value={reason}
            placeholder="Tell the agent what to do instead (optional)"
            onChange={(event) => keepReason(event.target.value)}
            onKeyDown={(event) => event.key === "Escape" && onDenying(false)}
          />
        </div>
        <Button onClick={() => onDenying(false)}>Back</Button>
        <Button type="submit" weight="danger" busy={answer.isPending} disabled={isOver}>
          Deny
        </Button>
      </form>
    );
  }
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-2">
      <Button
        weight="primary"
        size="sm"
        busy={busyWith === true}
        disabled={answer.isPending || isOver}
        icon={<Check className="size-4" aria-hidden />}
        onClick={() => answer.mutate({ isAllowed: true })}
      >
        Allow
        <Key of={LOG.allow} />
      </Button>
      <Button
        size="sm"
        disabled={answer.isPending || isOver}
        icon={<X className="size-4" aria-hidden />}
        onClick={() => onDenying(true)}
      >
        Deny
        <Key of={LOG.deny} />
      </Button>
    </div>
  );
}

/** Quieter than a key cap, which would outshine the word beside it. */
const Key = ({ of }: { of: Action }) => (
  <span aria-hidden className="text-xs opacity-75 pointer-coarse:hidden">
    {of.keys?.toUpperCase()}
  </span>
);
