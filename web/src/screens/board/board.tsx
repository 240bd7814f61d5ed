// The board of a project: its tasks in columns, live.

import type { TaskStatus } from "@forge/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Plus, SquarePen } from "lucide-react";
import { useCallback, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { cardsQuery, conflictsQuery, descriptionsQuery, projectsQuery } from "../../api/queries/project";
import { useChannel } from "../../live/channel";
import type { BoardTask as Task } from "../../live/tasks";
import { tasksChannel } from "../../live/tasks";
import { clashesOf } from "../../parts/clashes";
import { COLUMNS } from "../../parts/status";
import type { BoardSearch } from "../../routes";
import { bind } from "../../shell/action";
import { CommandButton } from "../../shell/command";
import { forgetProject, lastProject } from "../../shell/last-project";
import { NotFound } from "../../shell/not-found";
import { Page } from "../../shell/page";
import { Button } from "../../ui/button";
import { NARROW, useMedia } from "../../ui/media";
import { Empty, Failure } from "../../ui/state";
import { BOARD } from "./actions";
import { placeOn } from "./board-place";
import { CardMenu, type MenuPlace } from "./card-menu";
import { type CardsShown, Column, ColumnGhost } from "./column";
import { ColumnTabs } from "./column-tabs";
import { DragRoom } from "./drag";
import { facetsOf, isFiltered, readFilter, shownColumns } from "./filter";
import { Filters } from "./filters";
import { type Columns, groupTasks, sortTasks } from "./grouping";
import { useBoardKeyboard } from "./keyboard";
import { useMoves } from "./moves";
import { NewTask } from "./new-task";
import { Summary } from "./summary";
import { useTaskActions } from "./task-actions";
import { columnOf } from "./task-standing";

const route = getRouteApi("/projects/$projectId/tasks");

/** What a phone shows until somebody chooses: where something is going on. */
const FIRST_LOOK: readonly TaskStatus[] = ["inprogress", "inreview", "todo"];

export function Board() {
  const { projectId } = route.useParams();
  const { data: projects, isFetching } = useQuery(projectsQuery());
  const unknown = projects !== undefined && !isFetching && !projects.some(({ id }) => id === projectId);
  useEffect(() => {
    // Else `/` would lead here again and again.
    if (unknown && lastProject() === projectId) forgetProject();
  }, [unknown, projectId]);
  if (unknown) return <NotFound />;
  // A board of its own for each project: nothing of one is carried over into the other.
  return <ProjectBoard key={projectId} projectId={projectId} />;
}

function ProjectBoard({ projectId }: { projectId: string }) {
  const search = route.useSearch();
  const navigate = useNavigate();
  const { data: projects } = useQuery(projectsQuery());
  const { phase, value: tasks, error, retry } = useChannel(tasksChannel(projectId));
  const { data: cards } = useQuery(cardsQuery(projectId));
  const { data: conflicts } = useQuery(conflictsQuery(projectId));
  const clashes = useMemo(() => clashesOf(conflicts), [conflicts]);
  const { moves, move } = useMoves(projectId);
  const narrow = useMedia(NARROW);
  const input = useRef<HTMLInputElement>(null);

  const change = useCallback(
    (part: Partial<BoardSearch>): void => {
      void navigate({ to: ".", search: (before) => ({ ...before, ...part }), replace: true });
    },
    [navigate],
  );
  const { q, agent, label, status } = useDeferredValue(search);
  const { data: descriptions } = useQuery({ ...descriptionsQuery(projectId), enabled: Boolean(q) });
  const filter = useMemo(
    () => ({ ...readFilter({ q, agent, label, status }), descriptions }),
    [q, agent, label, status, descriptions],
  );
  const sorted = useRef<readonly Task[]>(undefined);
  const newest = useMemo(() => {
    sorted.current = sortTasks(tasks, sorted.current);
    return sorted.current;
  }, [tasks]);
  const grouped = useRef<Columns>(undefined);
  const groups = useMemo(() => {
    grouped.current = groupTasks(newest, filter, moves, cards, grouped.current);
    return grouped.current;
  }, [newest, filter, moves, cards]);
  const facets = useMemo(() => facetsOf(tasks.values()), [tasks]);
  const columns = useMemo(() => shownColumns(filter), [filter]);

  const place = placeOn(projectId);
  const [chosen, setChosen] = useState(place.column);
  const single = useMemo(() => {
    const filled = FIRST_LOOK.find((each) => groups.get(each)?.length);
    return columns.find((column) => column.status === (chosen ?? filled)) ?? columns[0] ?? COLUMNS[0];
  }, [columns, chosen, groups]);
  const shown = useMemo(() => (narrow && single ? [single] : columns), [narrow, single, columns]);
  const lists = useMemo(() => shown.map((column) => groups.get(column.status) ?? []), [shown, groups]);
  const choose = (next: TaskStatus): void => {
    place.column = next;
    setChosen(next);
  };

  const [menu, setMenu] = useState<MenuPlace>();
  const openMenu = useCallback((task: Task, anchor: DOMRect, movesOnly = false): void => {
    setMenu({ task, anchor, movesOnly });
  }, []);
  const actions = useTaskActions(projectId, () => keyboard.focus(keyboard.tabStop));
  const shownIn = (task: Task): TaskStatus => columnOf(task, cards?.get(task.id));
  const keyboard = useBoardKeyboard({
    projectId,
    columns: shown,
    lists,
    tasks,
    onMove: move,
    onMenu: openMenu,
    onStart: (task) => shownIn(task) === "todo" && actions.start(task),
    onEdit: actions.edit,
    onNew: () => change({ new: true }),
    onSearch: () => input.current?.focus(),
  });

  const project = projects?.find(({ id }) => id === projectId);
  const title = project?.name ?? "Board";
  const loading = tasks.size === 0 && (phase === "connecting" || phase === "reconnecting");
  const cardsShown: CardsShown = { projectId, cards, clashes, tabStop: keyboard.tabStop, onMenu: openMenu };

  const body = () => {
    if (phase === "failed" && tasks.size === 0) return <Failure error={error} onRetry={retry} />;
    if (!loading && tasks.size === 0) return <FirstTask onNew={() => change({ new: true })} />;
    const found = lists.some((list) => list.length > 0);
    return (
      <DragRoom onMove={move}>
        <div className="flex h-full flex-col gap-3 p-3 md:p-4">
          {narrow && (
            <ColumnTabs
              columns={columns}
              counts={loading ? undefined : new Map([...groups].map(([status, group]) => [status, group.length]))}
              chosen={single?.status ?? "todo"}
              onChoose={choose}
            />
          )}
          {!loading && !found && isFiltered(search) && !narrow && (
            <p className="text-muted text-sm" role="status">
              No matching tasks. Clear the filters to see all {tasks.size}.
            </p>
          )}
          {/* biome-ignore lint/a11y/noStaticElementInteractions: keys that its cards let through */}
          <div
            className="flex min-h-0 flex-1 select-none gap-3 overflow-x-auto"
            onKeyDown={keyboard.onKeyDown}
            onFocus={({ target }) => target.dataset.task && keyboard.onFocus(target.dataset.task)}
          >
            {shown.map((column, at) =>
              loading ? (
                <ColumnGhost key={column.status} column={column} at={at} hideHead={narrow} />
              ) : (
                <Column key={column.status} column={column} tasks={lists[at] ?? []} hideHead={narrow} {...cardsShown} />
              ),
            )}
          </div>
        </div>
      </DragRoom>
    );
  };

  return (
    <Page
      title={title}
      beside={<Summary projectId={projectId} tasks={tasks} cards={cards} loading={loading} />}
      actions={
        <>
          <Filters search={search} facets={facets} compact={narrow} input={input} onChange={change} />
          <CommandButton
            of={bind(BOARD.new, () => change({ new: true }))}
            weight="primary"
            icon={<Plus className="size-4" aria-hidden />}
          />
        </>
      }
    >
      {body()}
      <CardMenu
        place={menu}
        column={menu && shownIn(menu.task)}
        onClose={() => setMenu(undefined)}
        onOpen={({ id: taskId }) =>
          void navigate({ to: "/projects/$projectId/tasks/$taskId", params: { projectId, taskId } })
        }
        onMove={move}
        onStart={actions.start}
        onEdit={actions.edit}
        onDelete={actions.remove}
        onCloseFocus={() => keyboard.focus(menu?.task.id)}
      />
      {actions.dialogs}
      <NewTask
        projectId={projectId}
        open={search.new === true}
        onOpenChange={(open) => change({ new: open || undefined })}
      />
    </Page>
  );
}

function FirstTask({ onNew }: { onNew: () => void }) {
  return (
    <Empty
      icon={<SquarePen aria-hidden />}
      title="Write your first task"
      action={
        <Button weight="primary" onClick={onNew}>
          New task
        </Button>
      }
    >
      Describe what should change. An agent works in its own worktree; you review the result.
    </Empty>
  );
}
