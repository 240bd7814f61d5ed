// The command palette: every command, project and task, found by typing.

import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Command as Cmdk } from "cmdk";
import { useDeferredValue, useState } from "react";
import { projectsQuery } from "../api/queries/project";
import { useChannel } from "../live/channel";
import { tasksChannel } from "../live/tasks";
import { statusTitle } from "../parts/status";
import { Kbd } from "../ui/kbd";
import { PAGE } from "./actions";
import { useCommandList } from "./commands";

interface Props {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  projectId: string | undefined;
}

const MOST_TASKS = 30;
const GROUP =
  "[&_[cmdk-group-heading]]:px-3 [&_[cmdk-group-heading]]:py-1.5 [&_[cmdk-group-heading]]:text-faint [&_[cmdk-group-heading]]:text-xs";
const ITEM = "mx-1 flex h-9 cursor-pointer items-center gap-3 rounded-sm px-2 text-sm data-[selected=true]:bg-hover";

export function Palette({ open, onOpenChange, projectId }: Props) {
  const [typed, setTyped] = useState("");
  const commands = useCommandList();
  const { data: projects } = useQuery(projectsQuery());
  const navigate = useNavigate();
  const run = (act: () => void) => () => {
    onOpenChange(false);
    setTyped("");
    act();
  };
  return (
    <Cmdk.Dialog
      open={open}
      onOpenChange={onOpenChange}
      label="Search and commands"
      overlayClassName="fixed inset-0 z-40 bg-veil"
      contentClassName="fixed inset-x-2 top-[10vh] z-40 mx-auto max-w-xl animate-enter overflow-hidden rounded-lg border border-line bg-raised shadow-pop"
    >
      <Cmdk.Input
        value={typed}
        onValueChange={setTyped}
        placeholder="Find a task, a project or a command"
        className="h-12 w-full border-line border-b bg-transparent px-4 text-base outline-none"
      />
      <Cmdk.List className="max-h-[50vh] overflow-y-auto py-1">
        {open && projectId && typed ? <Tasks projectId={projectId} typed={typed} run={run} /> : <None />}
        <Cmdk.Group heading="Commands" className={GROUP}>
          {commands
            .filter((command) => command.id !== PAGE.palette.id)
            .map(({ id, label, group, keys, words, run: act }) => (
              <Cmdk.Item
                key={id}
                value={`${group} ${label} ${id}`}
                keywords={words ? [words] : []}
                onSelect={run(act)}
                className={ITEM}
              >
                <span className="text-faint">{group}</span>
                <span className="flex-1 truncate">{label}</span>
                {keys && <Kbd keys={keys} />}
              </Cmdk.Item>
            ))}
        </Cmdk.Group>
        <Cmdk.Group heading="Projects" className={GROUP}>
          {projects?.map(({ id, name, git_repo_path }) => (
            <Cmdk.Item
              key={id}
              value={`${name} ${git_repo_path} ${id}`}
              onSelect={run(() => void navigate({ to: "/projects/$projectId/tasks", params: { projectId: id } }))}
              className={ITEM}
            >
              <span className="truncate">{name}</span>
              <span className="min-w-0 flex-1 truncate text-faint text-xs">{git_repo_path}</span>
            </Cmdk.Item>
          ))}
        </Cmdk.Group>
      </Cmdk.List>
    </Cmdk.Dialog>
  );
}

const None = () => <Cmdk.Empty className="px-4 py-6 text-center text-muted text-sm">No results</Cmdk.Empty>;

/** Tasks are looked through here, not by the palette, which would rank ten thousand of them at each key. */
function Tasks({ projectId, typed, run }: { projectId: string; typed: string; run: (act: () => void) => () => void }) {
  const navigate = useNavigate();
  const { value: tasks } = useChannel(tasksChannel(projectId));
  const words = useDeferredValue(typed).toLowerCase().split(/\s+/).filter(Boolean);
  const found = [...tasks.values()]
    .filter((task) => words.every((word) => task.title.toLowerCase().includes(word)))
    .slice(0, MOST_TASKS);
  // The palette counts only what it found itself.
  if (found.length === 0) return <None />;
  return (
    <Cmdk.Group heading="Tasks" className={GROUP} forceMount>
      {found.map(({ id, title, status }) => (
        <Cmdk.Item
          key={id}
          value={`task ${title} ${id}`}
          forceMount
          onSelect={run(
            () => void navigate({ to: "/projects/$projectId/tasks/$taskId", params: { projectId, taskId: id } }),
          )}
          className={ITEM}
        >
          <span className="flex-1 truncate">{title}</span>
          <span className="text-faint text-xs">{statusTitle(status)}</span>
        </Cmdk.Item>
      ))}
    </Cmdk.Group>
  );
}
