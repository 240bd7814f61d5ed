// A task by its address: the newest attempt if there is one, else (or when asked to stay) the task itself.

import { ForgeError, type Task, type TaskAttempt } from "@forge/client";
import { useQuery } from "@tanstack/react-query";
import { Link, Navigate, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { ChevronLeft, Compass, Play, Trash2 } from "lucide-react";
import { useState } from "react";
import { attemptsQuery, taskQuery } from "../../api/queries/task";
import { useDeleteTask } from "../../parts/task/delete-task";
import { StartAttempt } from "../../parts/task/start-attempt";
import { bind } from "../../shell/action";
import { CommandButton, CommandIcon } from "../../shell/command";
import { useCommands } from "../../shell/commands";
import { useTitle } from "../../shell/title";
import { buttonClass } from "../../ui/button";
import { Empty, Failure, Waiting } from "../../ui/state";
import { TASK } from "./actions";
import { Attempts } from "./attempts";
import { Description, useWriting } from "./description";
import { Properties } from "./properties";
import { Parent, Subtasks } from "./relations";
import { Title } from "./task-title";

const ROUTE = "/projects/$projectId/tasks/$taskId";

export function TaskScreen() {
  const { projectId, taskId } = useParams({ from: ROUTE });
  const { stay } = useSearch({ from: ROUTE });
  const task = useQuery(taskQuery(projectId, taskId));
  const attempts = useQuery(attemptsQuery(taskId));
  const newest = attempts.data?.[0];
  const error = task.error ?? attempts.error;
  if (error instanceof ForgeError && error.isFinal) return <Missing projectId={projectId} />;
  if (error) {
    const again = (): void => {
      void task.refetch();
      void attempts.refetch();
    };
    return <Failure error={error} onRetry={again} />;
  }
  if (task.data === undefined || attempts.data === undefined) return <Waiting what="Loading the task" />;
  if (newest && !stay) {
    const params = { projectId, taskId, attemptId: newest.id };
    return <Navigate to="/projects/$projectId/tasks/$taskId/attempts/$attemptId" params={params} replace />;
  }
  return <TaskPage key={taskId} task={task.data} attempts={attempts.data} />;
}

function Missing({ projectId }: { projectId: string }) {
  return (
    <Empty
      icon={<Compass aria-hidden />}
      title="Task not found"
      action={
        <Link to="/projects/$projectId/tasks" params={{ projectId }} className={buttonClass("primary")}>
          Back to the board
        </Link>
      }
    >
      The link may be old, or the task was deleted.
    </Empty>
  );
}

function TaskPage({ task, attempts }: { task: Task; attempts: readonly TaskAttempt[] }) {
  const { id: taskId, project_id: projectId } = task;
  useTitle(task.title);
  const [starting, setStarting] = useState(false);
  const writing = useWriting(taskId);
  const navigate = useNavigate();
  const deletion = useDeleteTask(
    () => void navigate({ to: "/projects/$projectId/tasks", params: { projectId }, replace: true }),
  );
  const start = (): void => {
    setStarting(true);
    // The first attempt would otherwise lead away while the next ones are being started.
    void navigate({ to: ROUTE, params: { projectId, taskId }, search: { stay: true }, replace: true });
  };
  const [starts, deletes] = [bind(TASK.start, start), bind(TASK.delete, () => deletion.ask(task))];
  useCommands([starts, deletes]);
  return (
    <div className="h-full overflow-auto">
      <header className="flex min-h-14 items-center gap-2 border-line border-b px-4 py-2">
        <Link
          to="/projects/$projectId/tasks"
          params={{ projectId }}
          className="-ml-1 flex h-8 items-center gap-1 rounded-md pr-2 pl-1 text-muted text-sm hover:bg-hover hover:text-ink pointer-coarse:h-11"
        >
          <ChevronLeft className="size-4" aria-hidden />
          Board
        </Link>
        <div className="ml-auto flex items-center gap-2">
          <CommandIcon of={deletes}>
            <Trash2 className="size-4" aria-hidden />
          </CommandIcon>
          {attempts.length > 0 && (
            <CommandButton of={starts} weight="primary" icon={<Play className="size-4" aria-hidden />}>
              Start another attempt
            </CommandButton>
          )}
        </div>
      </header>
      <div className="mx-auto grid max-w-5xl gap-6 p-4 md:p-6 lg:grid-cols-[minmax(0,1fr)_16rem] lg:gap-10">
        <div className="flex min-w-0 flex-col gap-6">
          <Title task={task} />
          <Description task={task} writing={writing} />
          <Attempts projectId={projectId} taskId={taskId} attempts={attempts} onStart={start} />
          <Subtasks attempts={attempts} />
        </div>
        <aside aria-label="Properties" className="flex min-w-0 flex-col gap-6 lg:pt-2">
          <Properties task={task} />
          {task.parent_task_attempt && <Parent attemptId={task.parent_task_attempt} />}
        </aside>
      </div>
      {starting && <StartAttempt projectId={projectId} taskId={taskId} onClose={() => setStarting(false)} />}
      {deletion.dialog}
    </div>
  );
}
