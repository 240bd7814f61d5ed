import type { ListedWorker } from "@forge/client";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { forge } from "../../../api/forge";
import { readyBeadsQuery } from "../../../api/queries/fleet";
import { Select } from "../../../ui/field";
import { FormDialog } from "../../../ui/form-dialog";
import { hintOf, Problem, Reason, reasonOf } from "../../../ui/state";
import { toast } from "../../../ui/toast";

interface Props {
  worker: ListedWorker;
  open: boolean;
  onOpenChange: (open: boolean) => void;
}

export function ReassignWorker({ worker, open, onOpenChange }: Props) {
  // The folder that its beads come from; a worker of dispatch works in a worktree, which has none.
  const workspace = worker.bead?.workspace ?? worker.workspace;
  const { data: beads, error } = useQuery({ ...readyBeadsQuery(workspace), enabled: open, staleTime: 0, retry: false });
  const [chosen, setChosen] = useState("");
  const bead = chosen || (beads?.[0]?.id ?? "");
  const reassign = useMutation({
    mutationFn: () =>
      forge.request("POST /api/workers/{worker_id}/reassign", { path: { worker_id: worker.id }, body: { bead } }),
    onSuccess: () => {
      toast.done(`${worker.id} has ${bead}`);
      onOpenChange(false);
    },
  });
  const options = beads?.map(({ id, title, priority }) => ({
    value: id,
    label: `P${priority ?? 2} ${id} ${title ?? ""}`,
  }));
  return (
    <FormDialog
      open={open}
      onClose={() => onOpenChange(false)}
      title={`Give ${worker.id} another bead`}
      about={worker.bead ? `It gives back ${worker.bead.id} and gets the new one.` : "It gets the bead."}
      verb="Give it"
      busy={reassign.isPending}
      blocked={bead === ""}
      onSubmit={() => reassign.mutate()}
    >
      {error ? (
        <Problem>
          <Reason text={reasonOf(error)} hint={hintOf(error)} />
        </Problem>
      ) : options?.length === 0 ? (
        <p className="text-muted text-sm">No bead of {workspace} is ready.</p>
      ) : (
        <Select label="Bead" options={options ?? []} value={bead} onChange={(event) => setChosen(event.target.value)} />
      )}
    </FormDialog>
  );
}
