// Removing a project: asked once more, with what it takes along. `dialog` belongs into the tree.

import type { Project } from "@forge/client";
import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { forge } from "../api/forge";
import { projectsQuery } from "../api/queries/project";
import { useConfirm } from "../ui/dialog";
import { toast } from "../ui/toast";
import { forgetProject, lastProject } from "./last-project";

export function useRemoveProject(onRemoved?: () => void): { ask: (project: Project) => void; dialog: ReactNode } {
  const { ask, dialog } = useConfirm();
  const queries = useQueryClient();
  const remove = async ({ id, name }: Project): Promise<void> => {
    await forge.deleteProject(id);
    if (lastProject() === id) forgetProject();
    queries.setQueryData(projectsQuery().queryKey, (all) => all?.filter((each) => each.id !== id));
    toast.done(`${name} was removed`);
    onRemoved?.();
  };
  const about = ({ git_repo_path }: Project): ReactNode => (
    <>
      Its tasks, attempts and transcripts are deleted. The repository at{" "}
      <code className="break-all font-mono text-xs">{git_repo_path}</code> and its branches stay, and what is in
      worktrees and not committed is kept as a snapshot.
    </>
  );
  const askFor = (project: Project): void =>
    ask({
      title: `Remove ${project.name}?`,
      about: about(project),
      verb: "Remove",
      onConfirm: () => remove(project),
    });
  return { ask: askFor, dialog };
}
