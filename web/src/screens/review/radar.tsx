// What would collide with this attempt: its target, and the other attempts that wait to land.

import { useQuery } from "@tanstack/react-query";
import { Radar, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { conflictsQuery } from "../../api/queries";

const MOST_FILES = 3;

function filesText(files: readonly string[]): string {
  const more = files.length - MOST_FILES;
  return files.slice(0, MOST_FILES).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

export function ConflictWarnings({ projectId, attemptId }: { projectId: string; attemptId: string }) {
  const { data } = useQuery(conflictsQuery(projectId));
  const target = data?.target.find((conflict) => conflict.attempt_id === attemptId);
  const pairs = data?.pairs.filter((pair) => pair.attempts.includes(attemptId)) ?? [];
  if (!target && pairs.length === 0) return null;
  return (
    <ul className="flex flex-col gap-1.5 text-sm">
      {target && (
        <Warning icon={<TriangleAlert className="size-4 text-bad" aria-hidden />}>
          Conflicts with <b className="font-medium">{target.target_branch}</b> in {filesText(target.files)}. Rebase
          first.
        </Warning>
      )}
      {pairs.map(({ attempts, branches, files }) => {
        const other = branches[attempts[0] === attemptId ? 1 : 0];
        return (
          <Warning key={other} icon={<Radar className="size-4 text-warn" aria-hidden />}>
            <b className="font-medium">{other}</b> changes the same lines in {filesText(files)}. Whichever lands second
            has to be resolved.
          </Warning>
        );
      })}
    </ul>
  );
}

const Warning = ({ icon, children }: { icon: ReactNode; children: ReactNode }) => (
  <li className="flex items-start gap-2">
    <span className="mt-0.5 shrink-0">{icon}</span>
    <span className="min-w-0 break-words text-muted">{children}</span>
  </li>
);
