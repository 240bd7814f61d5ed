// Links from the fleet to the board, for those who know only a part of the address.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { attemptQuery } from "../../api/queries/attempt";
import { projectsQuery } from "../../api/queries/project";

const LINK = "text-accent underline-offset-2 hover:underline";

export function AttemptLink({ attemptId }: { attemptId: string }) {
  const { data, isError } = useQuery({ ...attemptQuery(attemptId), retry: false });
  const name = `Attempt ${attemptId.slice(0, 8)}`;
  if (data === undefined) return <span className="text-muted">{isError ? `${name}, which was deleted` : name}</span>;
  const params = { projectId: data.project_id, taskId: data.task_id, attemptId };
  return (
    <Link to="/projects/$projectId/tasks/$taskId/attempts/$attemptId" params={params} className={LINK}>
      {data.task.title}
    </Link>
  );
}

/** Beads are listed by project; one of a folder that is no project has no page. */
export function BeadLink({ workspace, bead, title }: { workspace: string; bead: string; title: string }) {
  const { data: projects } = useQuery(projectsQuery());
  const project = projects?.find(({ git_repo_path }) => git_repo_path === workspace);
  const name = (
    <>
      <span className="font-mono text-xs">{bead}</span> {title}
    </>
  );
  if (project === undefined) return <span>{name}</span>;
  return (
    <Link to="/fleet" search={{ view: "beads", project: project.id, bead }} className={LINK}>
      {name}
    </Link>
  );
}

export function WorkerLink({ worker }: { worker: string }) {
  return (
    <Link to="/fleet" search={{ view: "workers", worker }} className={LINK}>
      {worker}
    </Link>
  );
}
