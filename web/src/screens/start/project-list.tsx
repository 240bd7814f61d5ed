// The projects, each with how its tasks stand.

import type { Project } from "@forge/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { ArrowUpRight, Code, MoreHorizontal, Settings2, Unplug } from "lucide-react";
import { taskCountsQuery } from "../../api/queries/project";
import { openProjectInEditor } from "../../parts/editor";
import { COLUMNS } from "../../parts/status";
import { useRemoveProject } from "../../shell/remove-project";
import { Dot } from "../../ui/badge";
import { IconButton } from "../../ui/button";
import { short } from "../../ui/format";
import { Menu, MenuItem, MenuLine } from "../../ui/menu";

export function Projects({ projects }: { projects: readonly Project[] }) {
  const { ask, dialog } = useRemoveProject();
  return (
    <>
      <ul className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
        {projects.map((project) => (
          <ProjectCard key={project.id} project={project} onRemove={() => ask(project)} />
        ))}
      </ul>
      {dialog}
    </>
  );
}

function ProjectCard({ project, onRemove }: { project: Project; onRemove: () => void }) {
  const { id: projectId, name, git_repo_path } = project;
  const navigate = useNavigate();
  return (
    <li className="relative flex flex-col gap-3 rounded-lg border border-line bg-surface p-4 shadow-card transition-colors hover:border-line-strong">
      <div className="flex items-start gap-2">
        <div className="min-w-0 flex-1">
          <Link
            to="/projects/$projectId/tasks"
            params={{ projectId }}
            className="block truncate font-medium text-base after:absolute after:inset-0 after:rounded-lg"
          >
            {name}
          </Link>
          <p className="truncate font-mono text-faint text-xs" title={git_repo_path}>
            {git_repo_path}
          </p>
        </div>
        <div className="relative z-10 -mt-1 -mr-1">
          <Menu
            trigger={
              <IconButton label={`Actions for ${name}`} size="sm">
                <MoreHorizontal className="size-4" aria-hidden />
              </IconButton>
            }
          >
            <MenuItem
              icon={<ArrowUpRight aria-hidden />}
              onSelect={() => void navigate({ to: "/projects/$projectId/tasks", params: { projectId } })}
            >
              Open the board
            </MenuItem>
            <MenuItem icon={<Code aria-hidden />} onSelect={() => void openProjectInEditor(projectId)}>
              Open in editor
            </MenuItem>
            <MenuItem
              icon={<Settings2 aria-hidden />}
              onSelect={() =>
                void navigate({
                  to: "/settings/$section",
                  params: { section: "projects" },
                  search: { project: projectId },
                })
              }
            >
              Settings
            </MenuItem>
            <MenuLine />
            <MenuItem icon={<Unplug aria-hidden />} danger onSelect={onRemove}>
              Remove
            </MenuItem>
          </Menu>
        </div>
      </div>
      <Counts projectId={projectId} />
    </li>
  );
}

function Counts({ projectId }: { projectId: string }) {
  const { data } = useQuery(taskCountsQuery());
  const counts = data?.get(projectId);
  const shown = COLUMNS.filter(({ status }) => counts?.[status]);
  return (
    <p className="flex min-h-9 flex-wrap content-start gap-x-3 gap-y-1 text-muted text-xs tabular">
      {counts && shown.length === 0 && <span className="text-faint">No tasks yet</span>}
      {shown.map(({ status, title, tone }) => (
        <span key={status} className="inline-flex items-center gap-1.5">
          <Dot tone={tone} />
          {short(counts?.[status] ?? 0)} {title.toLowerCase()}
        </span>
      ))}
    </p>
  );
}
