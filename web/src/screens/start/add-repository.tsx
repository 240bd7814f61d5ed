// The dialog that makes a project of a repository: one that is there, or a new one.
// Invariant: what is typed is kept in this browser until the server has taken it.

import type { DirectoryEntry, Project } from "@forge/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { FolderGit2 } from "lucide-react";
import { forge } from "../../api/forge";
import { folderQuery, projectsQuery, repositoriesQuery } from "../../api/queries/project";
import { restoreForm, useDraft } from "../../kept/draft";
import { Switch, TextField } from "../../ui/field";
import { FormDialog } from "../../ui/form-dialog";
import { messageOf } from "../../ui/state";
import { bare, expand, isPath, meant, nameOf } from "./completion";
import { PathField } from "./path-field";

interface Form {
  path: string;
  /** Absent until somebody types one: then it is the folder's. */
  name: string | undefined;
  fresh: boolean;
}

const EMPTY: Form = { path: "", name: undefined, fresh: false };

export function AddRepository({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  return open ? <AddDialog onClose={() => onOpenChange(false)} /> : null;
}

function AddDialog({ onClose }: { onClose: () => void }) {
  const { value: form, set, clear } = useDraft("add-repository", (kept) => restoreForm(EMPTY, kept));
  const { data: home } = useQuery(folderQuery(undefined));
  const navigate = useNavigate();
  const queries = useQueryClient();
  const change = (part: Partial<Form>): void => {
    set((now) => ({ ...now, ...part }));
    add.reset();
  };
  const path = bare(expand(form.path.trim(), home?.current_path));
  const name = form.name ?? nameOf(path);
  const add = useMutation({
    mutationFn: () => forge.createProject({ name: name.trim(), git_repo_path: path, use_existing_repo: !form.fresh }),
    onSuccess: ({ id: projectId }) => {
      clear();
      void queries.invalidateQueries(projectsQuery());
      void navigate({ to: "/projects/$projectId/tasks", params: { projectId } });
    },
    // Said at the field.
    onError: () => undefined,
  });
  const ready = isPath(path) && name.trim() !== "";
  return (
    <FormDialog
      onClose={onClose}
      title="Add a repository"
      about="Agents work in separate worktrees. Your checkout is never touched."
      verb={form.fresh ? "Create" : "Add"}
      busy={add.isPending}
      blocked={!ready}
      onSubmit={() => add.mutate()}
    >
      <PathField
        label="Folder"
        hint={form.fresh ? "Created if it doesn't exist" : "Path or repository name"}
        error={add.error && messageOf(add.error)}
        value={form.path}
        onChange={(next) => change({ path: next })}
      />
      {!form.fresh && (
        <Discovered
          typed={isPath(form.path) ? path : form.path}
          chosen={path}
          onChoose={(entry) => change({ path: entry.path, name: undefined })}
        />
      )}
      <TextField label="Name" value={name} onChange={({ target }) => change({ name: target.value || undefined })} />
      <Switch
        label="Create a new repository"
        hint="Creates the folder and a git repository with an initial commit."
        checked={form.fresh}
        onChange={(fresh) => change({ fresh })}
      />
    </FormDialog>
  );
}

interface DiscoveredProps {
  typed: string;
  chosen: string;
  onChoose: (entry: DirectoryEntry) => void;
}

function Discovered({ typed, chosen, onChoose }: DiscoveredProps) {
  const { data: found, isPending, error } = useQuery(repositoriesQuery());
  const { data: projects } = useQuery(projectsQuery());
  const known = new Set(projects?.map((project: Project) => project.git_repo_path));
  const shown = found ? meant(found, typed) : [];
  const say = isPending
    ? "Looking for repositories…"
    : error
      ? messageOf(error)
      : shown.length === 0
        ? "No matches. Paste a full path."
        : undefined;
  return (
    <section aria-label="Repositories on this machine">
      <h3 className="mb-1 font-medium text-muted text-xs">Found on this machine</h3>
      <ul className="h-40 overflow-y-auto rounded-md border border-line bg-surface p-1">
        {say && <li className="p-2 text-faint text-sm">{say}</li>}
        {shown.map((entry) => (
          <li key={entry.path}>
            <button
              type="button"
              disabled={known.has(entry.path)}
              aria-pressed={entry.path === chosen}
              onClick={() => onChoose(entry)}
              className="flex h-8 w-full items-center gap-2 rounded-sm px-2 text-left text-sm hover:bg-hover disabled:opacity-60 aria-pressed:bg-press pointer-coarse:h-11"
            >
              <FolderGit2 className="size-4 shrink-0 text-faint" aria-hidden />
              <span className="shrink-0">{entry.name}</span>
              <span className="min-w-0 flex-1 truncate font-mono text-faint text-xs">{entry.path}</span>
              {known.has(entry.path) && <span className="text-faint text-xs">added</span>}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
