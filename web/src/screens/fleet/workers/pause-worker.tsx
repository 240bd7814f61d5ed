import type { ListedWorker } from "@forge/client";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { forge } from "../../../api/forge";
import { useDraftText } from "../../../kept/draft";
import { Switch, TextField } from "../../../ui/field";
import { FormDialog } from "../../../ui/form-dialog";

interface Props {
  worker: ListedWorker;
  open: boolean;
  onOpenChange: (open: boolean) => void;
}

export function PauseWorker({ worker, open, onOpenChange }: Props) {
  const [reason, keep, clear] = useDraftText(`pause.${worker.id}`);
  const [freeze, setFreeze] = useState(false);
  const pause = useMutation({
    mutationFn: () =>
      forge.request("POST /api/workers/{worker_id}/pause", {
        path: { worker_id: worker.id },
        body: { reason, freeze },
      }),
    onSuccess: () => {
      clear();
      onOpenChange(false);
    },
  });
  return (
    <FormDialog
      open={open}
      onClose={() => onOpenChange(false)}
      title={`Pause ${worker.id}`}
      about="It gets no new work until it is resumed."
      width="sm"
      verb="Pause"
      busy={pause.isPending}
      onSubmit={() => pause.mutate()}
    >
      <TextField
        label="Reason"
        hint="Others see it in the list."
        value={reason}
        onChange={(event) => keep(event.target.value)}
      />
      <Switch
        label="Freeze its processes"
        hint="They stop immediately, whatever they are doing."
        checked={freeze}
        onChange={setFreeze}
      />
    </FormDialog>
  );
}
