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
import { RETIRE_QUESTION, restore, retire } from "../../parts/branch/retire";
import { openInEditor } from "../../parts/editor";
import { bind } from "../../shell/action";
import { CommandItem } from "../../shell/command";
import { useCommands } from "../../shell/commands";
import { IconButton } from "../../ui/button";
import { copyText } from "../../ui/copy";
import { useConfirm } from "../../ui/dialog";
import { Menu, MenuLine } from "../../ui/menu";
import { ATTEMPT } from "./actions";
import { isAtWork } from "./attempt-standing";
import { BudgetDialog } from "./budget-dialog";

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
  const bringBack = useMutation({ mutationFn: () => restore(attempt) });
  const show = (view: "processes"): Promise<void> =>
    navigate({
      to: "/projects/$projectId/tasks/$taskId/attempts/$attemptId",
      params: { projectId, taskId, attemptId: attempt.id },
      search: { view },
    });
  const askRetire = (): void => ask({ ...RETIRE_QUESTION, onConfirm: () => retire(queries, attempt) });

  const editor = bind(ATTEMPT.editor, () => openEditor.mutate());
  const copyPath = bind(ATTEMPT.copyPath, () => void copyText(path ?? "", "Path copied"), Boolean(path));
  const copyCd = bind(ATTEMPT.copyCd, () => void copyText(`cd ${quoted(path ?? "")}`, "Command copied"), Boolean(path));
  const viewing = `forge view ${attempt.id.slice(0, 8)} --follow`;
  const copyView = bind(ATTEMPT.copyView, () => void copyText(viewing, "Command copied"));
  const start = bind(ATTEMPT.startServer, () => startServer.mutate(), hasDevScript && !server);
  const stop = bind(ATTEMPT.stopServer, () => server && stopServer.mutate(server.id), Boolean(server));
  const budget = bind(ATTEMPT.budget, () => setBudgeting(true));
  const isRetired = Boolean(attempt.worktree_deleted);
  const restores = bind(ATTEMPT.restore, () => bringBack.mutate(), isRetired);
  const retires = bind(ATTEMPT.retire, askRetire, !isRetired && !isRunning && attempt.use_worktree);
  const details = bind(
    ATTEMPT.details,
    () =>
      void navigate({
        to: "/projects/$projectId/tasks/$taskId",
        params: { projectId, taskId },
        search: { stay: true },
      }),
  );
  useCommands([editor, copyPath, copyCd, copyView, start, stop, budget, restores, retires, details]);

  const trigger = (
    <IconButton label="More" size="sm" busy={openEditor.isPending || startServer.isPending || bringBack.isPending}>
      <Ellipsis className="size-4" aria-hidden />
    </IconButton>
  );
  return (
    <>
      <Menu trigger={trigger}>
        <CommandItem of={editor} icon={<Code2 aria-hidden />} />
        {path && (
          <>
            <CommandItem of={copyPath} icon={<FolderOpen aria-hidden />} />
            <CommandItem of={copyCd} icon={<SquareTerminal aria-hidden />} />
          </>
        )}
        <CommandItem of={copyView} icon={<SquareTerminal aria-hidden />} />
        <MenuLine />
        {server ? (
          <CommandItem of={stop} icon={<Square aria-hidden />} />
        ) : (
          <CommandItem of={start} icon={<Play aria-hidden />}>
            {hasDevScript ? undefined : "No dev server set up"}
          </CommandItem>
        )}
        <CommandItem of={budget} icon={<Wallet aria-hidden />} />
        {isRetired ? (
          <CommandItem of={restores} icon={<ArchiveRestore aria-hidden />} />
        ) : (
          <CommandItem of={retires} icon={<Archive aria-hidden />} />
        )}
        <MenuLine />
        <CommandItem of={details} icon={<FileText aria-hidden />} />
      </Menu>
      {isBudgeting && <BudgetDialog attempt={attempt} onClose={() => setBudgeting(false)} />}
      {dialog}
    </>
  );
}

/** As a shell reads it. */
const quoted = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);
