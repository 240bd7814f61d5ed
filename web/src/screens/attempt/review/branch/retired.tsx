// Above the changes of an attempt whose worktree is in the trash: what that means, and the way back.

import type { TaskAttemptDetail } from "@forge/client";
import { Archive, ArchiveRestore } from "lucide-react";
import type { Acts } from "../../../../parts/branch/acts";
import { restore } from "../../../../parts/branch/retire";
import { Button } from "../../../../ui/button";
import { Problem, Reason } from "../../../../ui/state";

export function Retired({ attempt, acts }: { attempt: TaskAttemptDetail; acts: Acts }) {
  return (
    <section aria-label="Retired" className="flex shrink-0 flex-wrap items-center gap-3 border-line border-b px-3 py-2">
      <Archive className="size-4 shrink-0 text-faint" aria-hidden />
      <p className="min-w-0 flex-1 basis-64 text-sm">
        This attempt is retired. Below is what its branch <code className="font-mono text-xs">{attempt.branch}</code>{" "}
        has; every file, committed or not, was kept.
      </p>
      <Button
        size="sm"
        weight="primary"
        busy={acts.busy === "restore"}
        icon={<ArchiveRestore className="size-4" aria-hidden />}
        onClick={() => void acts.run("restore", () => restore(attempt))}
      >
        Restore
      </Button>
      <Problem className="basis-full">
        {acts.refusal && <Reason text={acts.refusal.text} hint={acts.refusal.hint} />}
      </Problem>
    </section>
  );
}
