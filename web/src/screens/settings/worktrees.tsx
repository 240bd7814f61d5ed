// The disk that worktrees use, and work that was retired from it. Nothing is deleted here that cannot be proven to be kept.

import type { Project, Standing, TrashLine, WorktreeLine } from "@forge/client";
import { useQuery } from "@tanstack/react-query";
import { RefreshCw, Undo2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { forge } from "../../api/forge";
import { worktreesQuery } from "../../api/queries";
import { Badge, type Tone } from "../../ui/badge";
import { Button, IconButton } from "../../ui/button";
import { Ago } from "../../ui/clock";
import { useConfirm } from "../../ui/dialog";
import { count } from "../../ui/format";
import { Failure, messageOf } from "../../ui/state";
import { toast } from "../../ui/toast";
import { bytes } from "./bytes";
import { Panel } from "./panel";

const STANDING: Record<Standing, { word: string; tone: Tone; about: string }> = {
  in_use: { word: "In use", tone: "neutral", about: "Belongs to an attempt." },
  orphan: { word: "Orphan", tone: "warn", about: "Its attempt is gone." },
  other_forge: { word: "Another Forge", tone: "info", about: "Made by another Forge; left alone." },
  stranger: { word: "Unknown", tone: "info", about: "Not made by Forge; left alone." },
};

export function Worktrees({ project }: { project: Project }) {
  const { data: report, error, refetch, isFetching } = useQuery(worktreesQuery());
  const { ask, dialog } = useConfirm();
  const own = report?.worktrees.filter(({ repo }) => repo === project.git_repo_path) ?? [];
  const foreign = report?.worktrees.filter(({ repo, standing }) => repo === null || standing !== "in_use") ?? [];
  const lines = [...new Set([...own, ...foreign])].sort((a, b) => b.bytes - a.bytes);
  const sum = own.reduce((sum, line) => sum + line.bytes, 0);
  const collect = async (): Promise<void> => {
    try {
      const { freed_bytes, removed, kept } = await forge.request("POST /api/worktrees/gc", { body: {} });
      const rest = kept.length > 0 ? `, ${count(kept.length, "folder")} kept` : "";
      toast.done(`${bytes(freed_bytes)} freed, ${count(removed.length, "folder")} removed${rest}`);
      await refetch();
    } catch (error) {
      toast.failed(messageOf(error));
      throw error;
    }
  };
  const actions = (
    <div className="flex gap-2">
      <IconButton label="Look again" size="sm" busy={isFetching} onClick={() => void refetch()}>
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
            <Line key={line.path} line={line} />
          ))}
        </List>
      )}
      {report && report.trash.length > 0 && (
        <List title="Retired work of all projects">
          {report.trash.map((line) => (
            <Retired key={line.path} line={line} onDone={() => void refetch()} />
          ))}
        </List>
      )}
      {report && lines.length === 0 && report.trash.length === 0 && (
        <p className="text-faint text-sm">There are no worktrees.</p>
      )}
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

function Line({ line }: { line: WorktreeLine }) {
  const { word, tone, about } = STANDING[line.standing];
  return (
    <li className="flex h-9 items-center gap-3 px-3 text-sm">
      <span className="min-w-0 flex-1 truncate font-mono text-xs" title={line.path}>
        {line.branch ?? nameOf(line.path)}
      </span>
      <Badge tone={tone} title={about}>
        {word}
      </Badge>
      <span className="w-16 text-right text-muted text-xs tabular">{bytes(line.bytes)}</span>
    </li>
  );
}

function Retired({ line, onDone }: { line: TrashLine; onDone: () => void }) {
  const [busy, setBusy] = useState(false);
  const { attempt_id } = line;
  const restore = async (attempt_id: string): Promise<void> => {
    setBusy(true);
    try {
      const { path } = await forge.request("POST /api/worktrees/{attempt_id}/restore", { path: { attempt_id } });
      toast.done(`Restored to ${path}`);
      onDone();
    } catch (error) {
      toast.failed(messageOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <li className="flex min-h-9 items-center gap-3 px-3 py-1 text-sm">
      <span className="min-w-0 flex-1 truncate font-mono text-xs" title={line.path}>
        {nameOf(line.path)}
      </span>
      <span className="text-faint text-xs">
        <Ago time={line.retired_at} />
      </span>
      <span className="w-16 text-right text-muted text-xs tabular">{bytes(line.bytes)}</span>
      {attempt_id && (
        <Button
          size="sm"
          busy={busy}
          icon={<Undo2 className="size-4" aria-hidden />}
          aria-label={`Restore ${nameOf(line.path)}`}
          onClick={() => void restore(attempt_id)}
        >
          Restore
        </Button>
      )}
    </li>
  );
}
