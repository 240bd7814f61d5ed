// What can be done with a worker as it stands now.

import type { ListedWorker } from "@forge/client";
import { useMutation } from "@tanstack/react-query";
import { Ellipsis, Pause, Play, Plus, RotateCw, Shuffle, Skull, Square, Trash2 } from "lucide-react";
import { useState } from "react";
import { forge } from "../../../api/forge";
import { Button, IconButton } from "../../../ui/button";
import { useConfirm } from "../../../ui/dialog";
import { Menu, MenuItem, MenuLine } from "../../../ui/menu";
import { toast } from "../../../ui/toast";
import { PauseWorker } from "./pause-worker";
import { ReassignWorker } from "./reassign-worker";

type Deed = "adopt" | "resume" | "restart" | "stop" | "kill";

const DONE: Record<Deed, string> = {
  adopt: "Adopted",
  resume: "Resumed",
  restart: "Restarted",
  stop: "Stopped",
  kill: "Killed",
};

export function WorkerActions({ worker, onGone }: { worker: ListedWorker; onGone: () => void }) {
  const [dialog, setDialog] = useState<"pause" | "reassign">();
  const { ask, dialog: question } = useConfirm();
  const path = { worker_id: worker.id };
  const perform = async (deed: Deed): Promise<void> => {
    await forge.request(`POST /api/workers/{worker_id}/${deed}`, { path });
    toast.done(`${DONE[deed]} ${worker.id}`);
  };
  const act = useMutation({ mutationFn: perform });
  const remove = useMutation({
    mutationFn: () => forge.request("DELETE /api/workers/{worker_id}", { path }),
    onSuccess: onGone,
  });
  const busy = (deed: Deed): boolean => act.isPending && act.variables === deed;
  const live = worker.phase === "starting" || worker.phase === "running" || worker.phase === "paused";
  // An agent that died may have left its shell.
  const stoppable = !["stopped", "finished", "failed"].includes(worker.phase) || worker.has_session;
  const over = worker.phase === "stopped" || worker.phase === "finished" || worker.phase === "failed";

  if (!worker.managed) {
    return (
      <div>
        <Button
          weight="primary"
          busy={busy("adopt")}
          icon={<Plus className="size-4" aria-hidden />}
          onClick={() => act.mutate("adopt")}
        >
          Adopt
        </Button>
      </div>
    );
  }
  const restart = (): void => {
    if (over) act.mutate("restart");
    else {
      ask({
        title: `Restart ${worker.id}?`,
        about: "Ends its agent and starts it again in the same way. Unsaved work is lost.",
        verb: "Restart",
        weight: "primary",
        onConfirm: () => perform("restart"),
      });
    }
  };
  const kill = (): void =>
    ask({
      title: `Kill ${worker.id}?`,
      about: "It ends at once, with everything it started. Stopping asks it first.",
      verb: "Kill",
      onConfirm: () => perform("kill"),
    });
  return (
    <div className="flex flex-wrap gap-2">
      {worker.phase === "paused" ? (
        <Button
          weight="primary"
          busy={busy("resume")}
          icon={<Play className="size-4" aria-hidden />}
          onClick={() => act.mutate("resume")}
        >
          Resume
        </Button>
      ) : (
        live && (
          <Button icon={<Pause className="size-4" aria-hidden />} onClick={() => setDialog("pause")}>
            Pause
          </Button>
        )
      )}
      <Button busy={busy("restart")} icon={<RotateCw className="size-4" aria-hidden />} onClick={restart}>
        Restart
      </Button>
      {stoppable && (
        <Button busy={busy("stop")} icon={<Square className="size-4" aria-hidden />} onClick={() => act.mutate("stop")}>
          Stop
        </Button>
      )}
      <Menu
        trigger={
          <IconButton label="More" weight="plain" busy={remove.isPending || busy("kill")}>
            <Ellipsis className="size-4" aria-hidden />
          </IconButton>
        }
      >
        <MenuItem icon={<Shuffle aria-hidden />} disabled={!live} onSelect={() => setDialog("reassign")}>
          Give it another bead
        </MenuItem>
        <MenuLine />
        <MenuItem icon={<Trash2 aria-hidden />} disabled={!over || worker.has_session} onSelect={() => remove.mutate()}>
          Remove from the list
        </MenuItem>
        <MenuItem icon={<Skull aria-hidden />} danger disabled={!stoppable} onSelect={kill}>
          Kill
        </MenuItem>
      </Menu>
      <PauseWorker worker={worker} open={dialog === "pause"} onOpenChange={() => setDialog(undefined)} />
      <ReassignWorker worker={worker} open={dialog === "reassign"} onOpenChange={() => setDialog(undefined)} />
      {question}
    </div>
  );
}
