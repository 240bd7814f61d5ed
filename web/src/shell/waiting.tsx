// Agents that wait for an answer, wherever they are: how many, and the way to the one that waits longest.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { CircleHelp } from "lucide-react";
import { approvalsQuery, attemptQuery } from "../api/queries/attempt";
import { cx } from "../ui/class";
import { messageOf } from "../ui/state";
import { toast } from "../ui/toast";

/** Below on a phone, at the side elsewhere. */
export function WaitingButton({ below }: { below?: boolean }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { data: pending = [] } = useQuery(approvalsQuery());
  const asked = pending
    .filter(({ task_attempt_id }) => task_attempt_id)
    .sort((a, b) => a.created_at.localeCompare(b.created_at));
  const attemptId = asked[0]?.task_attempt_id;
  if (!attemptId) return null;
  const open = async (): Promise<void> => {
    try {
      const { project_id: projectId, task_id: taskId } = await queries.fetchQuery(attemptQuery(attemptId));
      const to = "/projects/$projectId/tasks/$taskId/attempts/$attemptId";
      await navigate({ to, params: { projectId, taskId, attemptId } });
    } catch (error) {
      toast.failed(messageOf(error));
    }
  };
  return (
    <button
      type="button"
      aria-label={`${asked.length} waiting for you`}
      onClick={() => void open()}
      className={cx(
        "flex items-center gap-2 rounded-md text-warn hover:bg-hover",
        below ? "min-h-12 flex-1 flex-col justify-center gap-0.5 text-xs" : "mt-1 h-8 bg-warn-soft px-2 text-sm",
      )}
    >
      <CircleHelp className="size-4 shrink-0" aria-hidden />
      {below ? `${asked.length} waiting` : `${asked.length} waiting for you`}
    </button>
  );
}
