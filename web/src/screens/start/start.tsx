// Where one begins: the projects, or, when there is none, what Forge is and two ways in.

import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { FolderPlus, Play } from "lucide-react";
import type { ReactNode } from "react";
import { projectsQuery } from "../../api/queries/project";
import { bind } from "../../shell/action";
import { CommandButton } from "../../shell/command";
import { useCommands } from "../../shell/commands";
import { Page } from "../../shell/page";
import { Failure } from "../../ui/state";
import { START } from "./actions";
import { AddRepository } from "./add-repository";
import { Agents } from "./agent-list";
import { useDemo } from "./demo";
import { Projects } from "./project-list";

const route = getRouteApi("/projects");

export function Start() {
  const { add } = route.useSearch();
  const navigate = useNavigate();
  const { data: projects, error, refetch } = useQuery(projectsQuery());
  const setAdding = (open: boolean): void => {
    void navigate({ to: "/projects", search: open ? { add: true } : {}, replace: true });
  };
  const demo = useDemo();
  const [adds, tries] = [bind(START.add, () => setAdding(true)), bind(START.demo, demo.start)];
  useCommands([adds, tries]);
  const tryDemo = <CommandButton of={tries} icon={<Play className="size-4" aria-hidden />} busy={demo.isStarting} />;
  const addOne = <CommandButton of={adds} weight="primary" icon={<FolderPlus className="size-4" aria-hidden />} />;
  const empty = projects?.length === 0;
  return (
    <Page
      title="Projects"
      actions={
        projects &&
        !empty && (
          <>
            {tryDemo}
            {addOne}
          </>
        )
      }
    >
      {error && !projects ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : empty ? (
        <Welcome>
          {addOne}
          {tryDemo}
        </Welcome>
      ) : (
        <div className="mx-auto flex max-w-5xl flex-col gap-8 p-4 md:p-6">
          {projects ? <Projects projects={projects} /> : <Ghosts />}
          <Agents />
        </div>
      )}
      <AddRepository open={add === true} onOpenChange={setAdding} />
    </Page>
  );
}

function Welcome({ children }: { children: ReactNode }) {
  return (
    <div className="mx-auto flex max-w-2xl flex-col gap-8 px-4 py-10 md:py-20">
      <div className="flex flex-col gap-4">
        <p className="text-balance font-semibold text-xl">Run many coding agents at once. Review, merge, ship.</p>
        <p className="max-w-xl text-md text-muted">
          Write tasks on a board. Each task runs in its own git worktree. Watch it live, answer questions, review the
          diff, merge.
        </p>
        <div className="mt-2 flex flex-wrap gap-2">{children}</div>
      </div>
      <Agents />
    </div>
  );
}

function Ghosts() {
  return (
    <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3" aria-hidden>
      {[1, 2, 3].map((nth) => (
        <div key={nth} className="h-26 rounded-lg border border-line bg-surface" />
      ))}
    </div>
  );
}
