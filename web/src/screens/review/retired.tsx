// An attempt whose worktree was put away: what that means, and the way back.

import type { TaskAttemptDetail } from "@forge/client";
import { Archive, ArchiveRestore } from "lucide-react";
import { Button } from "../../ui/button";
import { Empty } from "../../ui/state";
import type { Acts } from "./branch-acts";
import { restore } from "./retire";

export function Retired({ attempt, acts }: { attempt: TaskAttemptDetail; acts: Acts }) {
  return (
    <Empty
      icon={<Archive aria-hidden />}
      title="This attempt is retired"
      action={
        <Button
          weight="primary"
          busy={acts.busy === "restore"}
          icon={<ArchiveRestore className="size-4" aria-hidden />}
          onClick={() => void acts.run("restore", () => restore(attempt))}
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
