// Puts an attempt's worktree away, and brings it back. Both say what came of it.

import type { TaskAttempt } from "@forge/client";
import type { QueryClient } from "@tanstack/react-query";
import { forge } from "../../api/forge";
import { attemptQuery } from "../../api/queries/attempt";
import { toast } from "../../ui/toast";

export const RETIRE_QUESTION = {
  title: "Retire this attempt?",
  about: "Moves the worktree to the trash. Every file, committed or not, is kept and can be restored here.",
  verb: "Retire",
  weight: "primary",
} as const;

export async function retire(queries: QueryClient, { id }: Pick<TaskAttempt, "id">): Promise<void> {
  const { reference } = await forge.request("POST /api/worktrees/{attempt_id}/retire", { path: { attempt_id: id } });
  queries.setQueryData(attemptQuery(id).queryKey, (now) => now && { ...now, worktree_deleted: true });
  toast.done(`Retired; everything is kept in ${reference}`);
}

export async function restore({ id }: Pick<TaskAttempt, "id">): Promise<void> {
  const path = { attempt_id: id };
  const { from, missing } = await forge.request("POST /api/worktrees/{attempt_id}/restore", { path });
  const source = from === "trash" ? "as it was" : "from what was kept";
  const without = missing.length > 0 ? `; can be made again: ${missing.join(", ")}` : "";
  toast.done(`Restored ${source}${without}`);
}
