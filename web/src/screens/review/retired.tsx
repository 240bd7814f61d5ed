// An attempt whose worktree was put away: what that means, and the way back.

import type { TaskAttemptDetail } from "@forge/client";
import { Archive, ArchiveRestore } from "lucide-react";
import { forge } from "../../api/forge";
import { Button } from "../../ui/button";
import { Empty } from "../../ui/state";
import { toast } from "../../ui/toast";
import type { Acts } from "./branch-acts";

export function Retired({ attempt, acts }: { attempt: TaskAttemptDetail; acts: Acts }) {
  const restore = (): Promise<boolean> =>
    acts.run("restore", async () => {
      const path = { attempt_id: attempt.id };
      const { from, missing } = await forge.request("POST /api/worktrees/{attempt_id}/restore", { path });
      const source = from === "trash" ? "as it was" : "from what was kept";
      const without = missing.length > 0 ? `; can be made again: ${missing.join(", ")}` : "";
      toast.done(`Restored ${source}${without}`);
    });
  return (
    <Empty
      icon={<Archive aria-hidden />}
      title="This attempt is retired"
      action={
        <Button
          weight="primary"
          busy={acts.busy === "restore"}
          icon={<ArchiveRestore className="size-4" aria-hidden />}
          onClick={() => void restore()}
        >
          Restore
        </Button>
      }
    >
      <p>
        Its worktree was put away. The branch <code className="font-mono text-xs">{attempt.branch}</code> and every
        file, committed or not, were kept.
      </p>
      {acts.refusal && (
        <p role="alert" className="mt-2 text-bad">
          {acts.refusal.text}
        </p>
      )}
    </Empty>
  );
}
