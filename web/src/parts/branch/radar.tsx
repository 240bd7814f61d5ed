// What would collide with this attempt: its target, and the other attempts that wait to land.

import { useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { conflictsQuery } from "../../api/queries/project";
import { clashesOf, filesText } from "../clashes";
import { Overlaps } from "../overlaps";

interface Props {
  projectId: string;
  attemptId: string;
}

export function TargetConflict({ projectId, attemptId }: Props) {
  const { data } = useQuery(conflictsQuery(projectId));
  const target = data?.target.find((conflict) => conflict.attempt_id === attemptId);
  if (!target) return null;
  return (
    <p className="flex min-w-0 items-start gap-2 text-sm">
      <TriangleAlert className="mt-0.5 size-4 shrink-0 text-bad" aria-hidden />
      <span className="min-w-0 break-words text-muted">
        Conflicts with <b className="font-medium">{target.target_branch}</b>: {filesText(target.files)}. Rebase to
        resolve.
      </span>
    </p>
  );
}

export function AttemptOverlaps({ projectId, attemptId }: Props) {
  const { data } = useQuery(conflictsQuery(projectId));
  const overlaps = clashesOf(data).get(attemptId)?.overlaps ?? [];
  return overlaps.length > 0 ? <Overlaps projectId={projectId} overlaps={overlaps} /> : null;
}
