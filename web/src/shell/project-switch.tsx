import type { Project } from "@forge/client";
import { useNavigate } from "@tanstack/react-router";
import { ChevronsUpDown, FolderGit2, Plus } from "lucide-react";
import { Menu, MenuItem, MenuLabel, MenuLine } from "../ui/menu";

export function ProjectSwitch({
  projects,
  projectId,
}: {
  projects: readonly Project[];
  projectId: string | undefined;
}) {
  const navigate = useNavigate();
  const current = projects.find((project) => project.id === projectId);
  const trigger = (
    <button type="button" className="flex h-9 items-center gap-2 rounded-md px-2 text-left text-sm hover:bg-hover">
      <FolderGit2 className="size-4 shrink-0 text-faint" aria-hidden />
      <span className="min-w-0 flex-1 truncate font-medium">{current?.name ?? "Choose a project"}</span>
      <ChevronsUpDown className="size-3.5 shrink-0 text-faint" aria-hidden />
    </button>
  );
  return (
    <Menu trigger={trigger} align="start">
      <MenuLabel>Projects</MenuLabel>
      {projects.map(({ id, name }) => (
        <MenuItem
          key={id}
          onSelect={() => void navigate({ to: "/projects/$projectId/tasks", params: { projectId: id } })}
        >
          {name}
        </MenuItem>
      ))}
      <MenuLine />
      <MenuItem icon={<Plus aria-hidden />} onSelect={() => void navigate({ to: "/projects", search: { add: true } })}>
        Add a repository
      </MenuItem>
    </Menu>
  );
}
