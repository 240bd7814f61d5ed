// Settings of one project, chosen by the address, and the disk that its work uses.

import type { Project } from "@forge/client";
import { useQuery, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { FolderGit2, Trash2 } from "lucide-react";
import { forge } from "../../../api/forge";
import { branchesQuery, projectsQuery } from "../../../api/queries/project";
import { lastProject } from "../../../shell/last-project";
import { useRemoveProject } from "../../../shell/remove-project";
import { Button, buttonClass } from "../../../ui/button";
import { Select } from "../../../ui/field";
import { Empty } from "../../../ui/state";
import { Panel, Row } from "../form/section-panel";
import { AreaSetting, NumberSetting, TextSetting, WordSetting } from "../form/setting-fields";
import { useForm } from "../form/settings-form";
import { Worktrees } from "./worktrees";

export function Projects() {
  const { data: projects } = useSuspenseQuery(projectsQuery());
  const { project: id = lastProject() } = useSearch({ from: "/settings/$section" });
  const navigate = useNavigate();
  const project = projects.find((project) => project.id === id) ?? projects[0];
  if (project === undefined) {
    return (
      <Empty
        icon={<FolderGit2 aria-hidden />}
        title="No projects yet"
        action={
          <Link to="/projects" search={{ add: true }} className={buttonClass("primary")}>
            Add a repository
          </Link>
        }
      >
        A project is a repository that agents work on.
      </Empty>
    );
  }
  return (
    <>
      {projects.length > 1 && (
        <Select
          label="Project"
          value={project.id}
          options={projects.map(({ id, name }) => ({ value: id, label: name }))}
          onChange={(event) =>
            void navigate({
              to: "/settings/$section",
              params: { section: "projects" },
              search: { project: event.target.value },
            })
          }
        />
      )}
      <ProjectForm key={project.id} project={project} />
      <Worktrees project={project} />
      <Removal key={`remove-${project.id}`} project={project} />
    </>
  );
}

function ProjectForm({ project }: { project: Project }) {
  const queries = useQueryClient();
  const { data: branches } = useQuery(branchesQuery(project.id));
  const form = useForm({
    name: `project.${project.id}`,
    stored: project,
    send: async (change) => {
      const next = await forge.updateProject(project.id, change);
      queries.setQueryData(projectsQuery().queryKey, (all) => all?.map((each) => (each.id === next.id ? next : each)));
    },
  });
  return (
    <Panel title={project.name} form={form}>
      <Row>
        <WordSetting label="Name" {...form.field("name")} />
        <TextSetting
          label="Base branch"
          mono
          list={`branches-${project.id}`}
          placeholder="The branch that is checked out"
          {...form.field("default_base_branch")}
        />
      </Row>
      <datalist id={`branches-${project.id}`}>
        {branches?.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <WordSetting
        label="Repository"
        mono
        hint="The folder on the machine where Forge runs."
        {...form.field("git_repo_path")}
      />
      <AreaSetting
        label="Setup script"
        mono
        placeholder="npm ci"
        hint="Runs in a new worktree before the agent."
        {...form.field("setup_script")}
      />
      <AreaSetting
        label="Dev server script"
        mono
        placeholder="npm run dev"
        hint="Runs the app so you can try an attempt."
        {...form.field("dev_script")}
      />
      <AreaSetting
        label="Cleanup script"
        mono
        placeholder="npm run format"
        hint="Runs after each turn of the agent; what it changes is committed."
        {...form.field("cleanup_script")}
      />
      <TextSetting
        label="Files to copy"
        mono
        placeholder=".env, config/local.json"
        hint="Untracked files to copy into each worktree, separated by commas."
        {...form.field("copy_files")}
      />
      <AreaSetting
        label="Commit prompt"
        rows={3}
        hint="For tools that write commit messages through the API; Forge only keeps it."
        {...form.field("commit_prompt")}
      />
      <Row>
        <NumberSetting
          label="Budget"
          unit="USD"
          min={0.01}
          step="any"
          optional
          placeholder="No limit"
          hint="What all attempts of this project may cost. Agents stop when it's used up."
          {...form.field("max_cost_usd")}
        />
      </Row>
    </Panel>
  );
}

function Removal({ project }: { project: Project }) {
  const navigate = useNavigate();
  const { ask, dialog } = useRemoveProject(
    () => void navigate({ to: "/settings/$section", params: { section: "projects" }, search: {} }),
  );
  return (
    <Panel title="Remove the project" about="Deletes its tasks from Forge. The repository and its branches stay.">
      <div>
        <Button weight="danger" icon={<Trash2 className="size-4" aria-hidden />} onClick={() => ask(project)}>
          Remove {project.name}
        </Button>
      </div>
      {dialog}
    </Panel>
  );
}
