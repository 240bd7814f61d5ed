// The two answers to a question: yes, or no with a reason that the agent is told.

import { useMutation } from "@tanstack/react-query";
import { Check, X } from "lucide-react";
import { useState } from "react";
import { forge } from "../../api/forge";
import { useDraftText } from "../../parts/draft";
import { Button } from "../../ui/button";
import { TextField } from "../../ui/field";

export function useAnswer(approvalId: string) {
  return useMutation({
    mutationFn: ({ isAllowed, reason }: { isAllowed: boolean; reason?: string }) =>
      forge.respondToApprovalRequest(approvalId, isAllowed, reason || undefined),
  });
}

interface Props {
  approvalId: string;
  /** The keys of the answers are shown beside them. */
  withKeys?: boolean;
  isDenying?: boolean;
  onDenying?: (isDenying: boolean) => void;
  answer?: ReturnType<typeof useAnswer>;
}

export function Answer({ approvalId, withKeys, isDenying, onDenying, answer: given }: Props) {
  const [own, setOwn] = useState(false);
  const ownAnswer = useAnswer(approvalId);
  const answer = given ?? ownAnswer;
  const denying = isDenying ?? own;
  const setDenying = onDenying ?? setOwn;
  const [reason, keepReason, clearReason] = useDraftText(`approval.${approvalId}`);
  const busyWith = answer.isPending ? answer.variables.isAllowed : undefined;
  // Until the question is gone, an answer that was taken is not asked for again.
  const isOver = answer.isSuccess;
  if (denying) {
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
            onKeyDown={(event) => event.key === "Escape" && setDenying(false)}
          />
        </div>
        <Button onClick={() => setDenying(false)}>Back</Button>
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
        {withKeys && <Key name="A" />}
      </Button>
      <Button
        size="sm"
        disabled={answer.isPending || isOver}
        icon={<X className="size-4" aria-hidden />}
        onClick={() => setDenying(true)}
      >
        Deny
        {withKeys && <Key name="D" />}
      </Button>
    </div>
  );
}

/** Quieter than a key cap, which would outshine the word beside it. */
const Key = ({ name }: { name: string }) => (
  <span aria-hidden className="text-xs opacity-75 pointer-coarse:hidden">
    {name}
  </span>
);
