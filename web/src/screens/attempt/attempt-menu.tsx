// Everything else that can be done with an attempt.

import type { ExecutionProcess, TaskAttempt } from "@forge/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import {
  Archive,
  ArchiveRestore,
  Code2,
  Ellipsis,
  FileText,
  FolderOpen,
  Play,
  Square,
  SquareTerminal,
  Wallet,
} from "lucide-react";
import { useState } from "react";
import { forge } from "../../api/forge";
import { projectsQuery } from "../../api/queries/project";
import { noteBranch } from "../../live/events";
import { openInEditor } from "../../parts/editor";
import { useCommands } from "../../shell/commands";
import { IconButton } from "../../ui/button";
import { copyText } from "../../ui/copy";
import { useConfirm } from "../../ui/dialog";
import { Menu, MenuItem, MenuLine } from "../../ui/menu";
import { BudgetDialog } from "./budget-dialog";
import { RETIRE_QUESTION, restore, retire } from "./review/retire";
import { isAtWork } from "./standing";

interface Props {
  attempt: TaskAttempt;
  processes: readonly ExecutionProcess[];
}

export function AttemptMenu({ attempt, processes }: Props) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { ask, dialog } = useConfirm();
  const [isBudgeting, setBudgeting] = useState(false);
  const { data: projects } = useQuery(projectsQuery());
  const hasDevScript = Boolean(projects?.find(({ id }) => id === attempt.project_id)?.dev_script);
  const server = processes.findLast(({ run_reason, status }) => run_reason === "devserver" && status === "running");
  const isRunning = isAtWork(processes);
  const { project_id: projectId, task_id: taskId, worktree_path: path } = attempt;

  const openEditor = useMutation({ mutationFn: () => openInEditor(attempt.id) });
  const startServer = useMutation({
    mutationFn: () => forge.startDevServer(attempt.id),
    onSuccess: () => void show("processes"),
  });
  const stopServer = useMutation({ mutationFn: (id: string) => forge.stopExecutionProcess(id) });
  const noteWorktree = (): Promise<void> => noteBranch(queries, projectId, attempt.id);
  const bringBack = useMutation({ mutationFn: () => restore(attempt), onSettled: noteWorktree });
  const putAway = useMutation({ mutationFn: () => retire(queries, attempt), onSettled: noteWorktree });
  const show = (view: "processes"): Promise<void> =>
    navigate({
      to: "/projects/$projectId/tasks/$taskId/attempts/$attemptId",
      params: { projectId, taskId, attemptId: attempt.id },
      search: { view },
    });
  const askRetire = (): void => ask({ ...RETIRE_QUESTION, onConfirm: () => putAway.mutateAsync() });

  useCommands([
    { id: "attempt-editor", label: "Open in editor", group: "Attempt", keys: "e", run: () => openEditor.mutate() },
  ]);

  const trigger = (
    <IconButton label="More" size="sm" busy={openEditor.isPending || startServer.isPending || bringBack.isPending}>
      <Ellipsis className="size-4" aria-hidden />
    </IconButton>
  );
  return (
    <>
      <Menu trigger={trigger}>
        <MenuItem icon={<Code2 aria-hidden />} keys="e" onSelect={() => openEditor.mutate()}>
          Open in editor
        </MenuItem>
        {path && (
          <>
            <MenuItem icon={<FolderOpen aria-hidden />} onSelect={() => void copyText(path, "Path copied")}>
              Copy worktree path
            </MenuItem>
            <MenuItem
              icon={<SquareTerminal aria-hidden />}
              onSelect={() => void copyText(`cd ${quoted(path)}`, "Command copied")}
            >
              Copy cd command
            </MenuItem>
          </>
        )}
        <MenuItem
          icon={<SquareTerminal aria-hidden />}
          onSelect={() => void copyText(`forge view ${attempt.id.slice(0, 8)} --follow`, "Command copied")}
        >
          Copy forge view command
        </MenuItem>
        <MenuLine />
        {server ? (
          <MenuItem icon={<Square aria-hidden />} onSelect={() => stopServer.mutate(server.id)}>
            Stop the dev server
          </MenuItem>
        ) : (
          <MenuItem icon={<Play aria-hidden />} disabled={!hasDevScript} onSelect={() => startServer.mutate()}>
            {hasDevScript ? "Start the dev server" : "No dev server set up"}
          </MenuItem>
        )}
        <MenuItem icon={<Wallet aria-hidden />} onSelect={() => setBudgeting(true)}>
          Set a budget…
        </MenuItem>
        {attempt.worktree_deleted ? (
          <MenuItem icon={<ArchiveRestore aria-hidden />} onSelect={() => bringBack.mutate()}>
            Restore
          </MenuItem>
        ) : (
          <MenuItem icon={<Archive aria-hidden />} disabled={isRunning || !attempt.use_worktree} onSelect={askRetire}>
            Retire…
          </MenuItem>
        )}
        <MenuLine />
        <MenuItem
          icon={<FileText aria-hidden />}
          onSelect={() =>
            void navigate({
              to: "/projects/$projectId/tasks/$taskId",
              params: { projectId, taskId },
              search: { stay: true },
            })
          }
        >
          Task details
        </MenuItem>
      </Menu>
      {isBudgeting && <BudgetDialog attempt={attempt} onClose={() => setBudgeting(false)} />}
      {dialog}
    </>
  );
}

/** As a shell reads it. */
const quoted = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);
