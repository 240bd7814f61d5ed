// The disk that worktrees use, and work that was retired from it. Nothing is deleted here that cannot be proven to be kept.

import type { ListedAttempt, Project, Standing, TrashLine, WorktreeLine } from "@forge/client";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { RefreshCw, Undo2 } from "lucide-react";
import type { ReactNode } from "react";
import { forge } from "../../../api/forge";
import { projectAttemptsQuery } from "../../../api/queries/project";
import { worktreesQuery } from "../../../api/queries/settings";
import { restore } from "../../../parts/branch/retire";
import { Badge, type Tone } from "../../../ui/badge";
import { Button, IconButton } from "../../../ui/button";
import { Ago } from "../../../ui/clock";
import { useConfirm } from "../../../ui/dialog";
import { count } from "../../../ui/format";
import { Failure } from "../../../ui/state";
import { toast } from "../../../ui/toast";
import { Panel } from "../form/section-panel";
import { bytes } from "./bytes";

const STANDING: Record<Standing, { word: string; tone: Tone; about: string }> = {
  in_use: { word: "In use", tone: "neutral", about: "Belongs to an attempt." },
  orphan: { word: "Orphan", tone: "warn", about: "Its attempt is gone." },
  other_forge: { word: "Another Forge", tone: "info", about: "Made by another Forge; left alone." },
  stranger: { word: "Unknown", tone: "info", about: "Not made by Forge; left alone." },
};

export function Worktrees({ project }: { project: Project }) {
  const { data: report, error, refetch, isFetching } = useQuery(worktreesQuery());
  const { data: attempts } = useQuery(projectAttemptsQuery(project.id));
  const { ask, dialog } = useConfirm();
  const attemptOf = (id: string | null): ListedAttempt | undefined => (id ? attempts?.get(id) : undefined);
  const retired = report?.trash.filter(({ attempt_id }) => attemptOf(attempt_id)) ?? [];
  const elsewhere = (report?.trash.length ?? 0) - retired.length;
  const own = report?.worktrees.filter(({ repo }) => repo === project.git_repo_path) ?? [];
  const foreign = report?.worktrees.filter(({ repo, standing }) => repo === null || standing !== "in_use") ?? [];
  const lines = [...new Set([...own, ...foreign])].sort((a, b) => b.bytes - a.bytes);
  const sum = own.reduce((sum, line) => sum + line.bytes, 0);
  const collect = async (): Promise<void> => {
    const { freed_bytes, removed, kept } = await forge.request("POST /api/worktrees/gc", { body: {} });
    const rest = kept.length > 0 ? `, ${count(kept.length, "folder")} kept` : "";
    toast.done(`${bytes(freed_bytes)} freed, ${count(removed.length, "folder")} removed${rest}`);
    await refetch();
  };
  const actions = (
    <div className="flex gap-2">
      <IconButton label="Refresh" size="sm" busy={isFetching} onClick={() => void refetch()}>
        <RefreshCw className="size-4" aria-hidden />
      </IconButton>
      <Button
        size="sm"
        onClick={() =>
          ask({
            title: "Collect garbage?",
            about:
              "Retired worktrees older than a week are deleted if their snapshot in git is complete, and logs of deleted tasks. Branches, snapshots and worktrees in use are kept; retired work can still be restored from its snapshot.",
            verb: "Collect",
            onConfirm: collect,
          })
        }
      >
        Collect garbage
      </Button>
    </div>
  );
  return (
    <Panel
      title="Disk"
      about={
        report
          ? `${bytes(sum)} in ${count(own.length, "worktree")} of ${project.name}; ${bytes(report.free_bytes)} free in ${report.base}.`
          : "Worktrees of this project."
      }
      actions={actions}
    >
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {lines.length > 0 && (
        <List title="Worktrees">
          {lines.map((line) => (
            <Line key={line.path} line={line} attempt={attemptOf(line.attempt_id)} />
          ))}
        </List>
      )}
      {retired.length > 0 && (
        <List title="Retired work">
          {retired.map((line) => (
            <Retired key={line.path} line={line} attempt={attemptOf(line.attempt_id)} onDone={() => void refetch()} />
          ))}
        </List>
      )}
      {attempts && elsewhere > 0 && (
        <p className="text-faint text-xs">
          {count(elsewhere, "retired worktree")} of other projects or of deleted tasks.
        </p>
      )}
      {report && lines.length === 0 && retired.length === 0 && <p className="text-faint text-sm">No worktrees.</p>}
      {dialog}
    </Panel>
  );
}

function List({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <h4 className="mb-1 font-medium text-faint text-xs">{title}</h4>
      <ul className="max-h-72 divide-y divide-line overflow-y-auto rounded-md border border-line">{children}</ul>
    </div>
  );
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** What the folder belongs to: the task of its attempt, else its own name. */
function Name({ path, branch, attempt }: { path: string; branch: string | null; attempt: ListedAttempt | undefined }) {
  const name = branch ?? attempt?.branch ?? nameOf(path);
  if (attempt === undefined) {
    return (
      <span className="min-w-0 flex-1 truncate font-mono text-xs" title={path}>
        {name}
      </span>
    );
  }
  const { project_id: projectId, task_id: taskId, id: attemptId } = attempt;
  return (
    <span className="flex min-w-0 flex-1 items-baseline gap-2">
      <Link
        to="/projects/$projectId/tasks/$taskId/attempts/$attemptId"
        params={{ projectId, taskId, attemptId }}
        className="truncate rounded-sm hover:underline"
      >
        {attempt.task_title}
      </Link>
      <span className="hidden min-w-0 truncate font-mono text-faint text-xs sm:block" title={path}>
        {name}
      </span>
    </span>
  );
}

function Line({ line, attempt }: { line: WorktreeLine; attempt: ListedAttempt | undefined }) {
  const { word, tone, about } = STANDING[line.standing];
  return (
    <li className="flex h-9 items-center gap-3 px-3 text-sm">
      <Name path={line.path} branch={line.branch} attempt={attempt} />
      <Badge tone={tone} title={about}>
        {word}
      </Badge>
      <span className="w-16 text-right text-muted text-xs tabular">{bytes(line.bytes)}</span>
    </li>
  );
}

interface RetiredProps {
  line: TrashLine;
  attempt: ListedAttempt | undefined;
  onDone: () => void;
}

function Retired({ line, attempt, onDone }: RetiredProps) {
  const { attempt_id } = line;
  const bringBack = useMutation({ mutationFn: (id: string) => restore({ id }), onSuccess: onDone });
  return (
    <li className="flex min-h-9 items-center gap-3 px-3 py-1 text-sm">
      <Name path={line.path} branch={null} attempt={attempt} />
      <span className="text-faint text-xs">
        <Ago time={line.retired_at} />
      </span>
      <span className="w-16 text-right text-muted text-xs tabular">{bytes(line.bytes)}</span>
      {attempt_id && (
        <Button
          size="sm"
          busy={bringBack.isPending}
          icon={<Undo2 className="size-4" aria-hidden />}
          aria-label={`Restore ${attempt?.task_title ?? nameOf(line.path)}`}
          onClick={() => bringBack.mutate(attempt_id)}
        >
          Restore
        </Button>
      )}
    </li>
  );
}
