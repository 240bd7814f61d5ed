// What an attempt may cost before its agent is stopped.

import type { TaskAttempt } from "@forge/client";
import { useMutation } from "@tanstack/react-query";
import { forge } from "../../api/forge";
import { useDraftText } from "../../kept/draft";
import { BUDGET_FLAW, parseBudget } from "../../parts/budget";
import { TextField } from "../../ui/field";
import { FormDialog } from "../../ui/form-dialog";
import { money } from "../../ui/format";
import { toast } from "../../ui/toast";

export function BudgetDialog({ attempt, onClose }: { attempt: TaskAttempt; onClose: () => void }) {
  const stored = attempt.max_cost_usd === undefined ? "" : String(attempt.max_cost_usd);
  const [typed, setTyped, clear] = useDraftText(`budget.${attempt.id}`, stored);
  const amount = parseBudget(typed);
  const save = useMutation({
    mutationFn: () =>
      forge.request("PUT /api/task-attempts/{attempt_id}/budget", {
        path: { attempt_id: attempt.id },
        body: { max_cost_usd: amount ?? null },
      }),
    onSuccess: () => {
      clear();
      toast.done(amount == null ? "Budget removed" : `Budget set to ${money(amount)}`);
      onClose();
    },
  });
  return (
    <FormDialog
      onClose={onClose}
      title="Budget"
      about="The agent is stopped when it has cost this much; its work is kept."
      width="sm"
      verb="Save"
      busy={save.isPending}
      blocked={amount === undefined}
      onSubmit={() => save.mutate()}
    >
      <TextField
        label="In US dollars"
        inputMode="decimal"
        value={typed}
        placeholder="No limit"
        hint={attempt.cost_usd === undefined ? undefined : `So far it has cost ${money(attempt.cost_usd)}.`}
        error={amount === undefined ? BUDGET_FLAW : null}
        onChange={(event) => setTyped(event.target.value)}
      />
    </FormDialog>
  );
}
