// The frame around every screen: navigation at the side (below on a phone), what is wrong at the top, the screen itself.

import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useNavigate, useParams } from "@tanstack/react-router";
import {
  Bot,
  CircleDollarSign,
  Flame,
  Keyboard,
  LayoutGrid,
  type LucideIcon,
  Moon,
  Search,
  Settings2,
  Sun,
} from "lucide-react";
import { useEffect, useState } from "react";
import { alertsQuery } from "../api/queries/fleet";
import { projectsQuery } from "../api/queries/project";
import { IconButton } from "../ui/button";
import { cx } from "../ui/class";
import { Kbd } from "../ui/kbd";
import { Toasts } from "../ui/toast";
import { listenForKeys, useCommands } from "./commands";
import { ConnectionBanner } from "./connection-banner";
import { KeysHelp } from "./keys-help";
import { lastProject, rememberProject } from "./last-project";
import { Notices } from "./notices";
import { Palette } from "./palette";
import { ProjectSwitch } from "./project-switch";
import { setTheme, useTheme } from "./theme";
import { WaitingButton } from "./waiting";

export function Frame() {
  const [palette, setPalette] = useState(false);
  const [keys, setKeys] = useState(false);
  const { projectId } = useParams({ strict: false });
  const current = projectId ?? lastProject();
  useEffect(() => listenForKeys(), []);
  useEffect(() => {
    if (projectId) rememberProject(projectId);
  }, [projectId]);
  useShellCommands(
    current,
    () => setPalette(true),
    () => setKeys(true),
  );
  return (
    <div className="flex h-full flex-col md:flex-row">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-md focus:bg-raised focus:p-2"
      >
        Skip to content
      </a>
      <Sidebar projectId={current} onSearch={() => setPalette(true)} onKeys={() => setKeys(true)} />
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <ConnectionBanner />
        <main id="main" tabIndex={-1} className="min-h-0 min-w-0 flex-1 outline-none">
          <Outlet />
        </main>
      </div>
      <BottomBar projectId={current} onSearch={() => setPalette(true)} />
      <Palette open={palette} onOpenChange={setPalette} projectId={current} />
      <KeysHelp open={keys} onOpenChange={setKeys} />
      <Notices />
      <Toasts />
    </div>
  );
}

function useShellCommands(projectId: string | undefined, search: () => void, help: () => void): void {
  const navigate = useNavigate();
  const board = (): void => {
    void navigate(projectId ? { to: "/projects/$projectId/tasks", params: { projectId } } : { to: "/" });
  };
  useCommands([
    { id: "palette", label: "Search and commands", group: "Page", keys: "mod+k", run: search },
    { id: "keys", label: "Keyboard shortcuts", group: "Page", keys: "?", run: help },
    { id: "board", label: "Board", group: "Go to", keys: "g b", run: board },
    { id: "projects", label: "Projects", group: "Go to", keys: "g p", run: () => void navigate({ to: "/projects" }) },
    {
      id: "fleet",
      label: "Fleet",
      group: "Go to",
      keys: "g f",
      words: "workers beads alerts routing",
      run: () => void navigate({ to: "/fleet" }),
    },
    {
      id: "costs",
      label: "Costs",
      group: "Go to",
      keys: "g c",
      words: "usage tokens money",
      run: () => void navigate({ to: "/costs" }),
    },
    { id: "settings", label: "Settings", group: "Go to", keys: "g s", run: () => void navigate({ to: "/settings" }) },
    { id: "theme-light", label: "Light theme", group: "Page", run: () => setTheme("light") },
    { id: "theme-dark", label: "Dark theme", group: "Page", run: () => setTheme("dark") },
    { id: "theme-system", label: "System theme", group: "Page", run: () => setTheme("system") },
  ]);
}

interface Place {
  to: string;
  params?: Record<string, string>;
  label: string;
  icon: LucideIcon;
  mark?: number;
}

function usePlaces(projectId: string | undefined): Place[] {
  const { data: alerts } = useQuery(alertsQuery());
  const open = alerts?.filter(
    (alert) => !alert.resolved_at && !alert.acknowledged_at && alert.severity !== "info",
  ).length;
  return [
    projectId
      ? { to: "/projects/$projectId/tasks", params: { projectId }, label: "Board", icon: LayoutGrid }
      : { to: "/projects", label: "Projects", icon: LayoutGrid },
    { to: "/fleet", label: "Fleet", icon: Bot, mark: open },
    { to: "/costs", label: "Costs", icon: CircleDollarSign },
    { to: "/settings", label: "Settings", icon: Settings2 },
  ];
}

function Sidebar({
  projectId,
  onSearch,
  onKeys,
}: {
  projectId: string | undefined;
  onSearch: () => void;
  onKeys: () => void;
}) {
  const { data: projects } = useQuery(projectsQuery());
  const theme = useTheme();
  const dark = theme === "dark" || (theme === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  return (
    <aside className="hidden w-56 shrink-0 flex-col gap-1 border-line border-r bg-sunken p-3 md:flex">
      <Link to="/projects" className="mb-2 flex h-8 items-center gap-2 rounded-md px-2 font-semibold text-md">
        <Flame className="size-5 text-accent" aria-hidden />
        Forge
      </Link>
      <ProjectSwitch projects={projects ?? []} projectId={projectId} />
      <button
        type="button"
        onClick={onSearch}
        className="mt-1 flex h-8 items-center gap-2 rounded-md border border-line bg-surface px-2 text-faint text-sm shadow-card hover:border-line-strong"
      >
        <Search className="size-4" aria-hidden />
        <span className="flex-1 text-left">Search</span>
        <Kbd keys="mod+k" />
      </button>
      <WaitingButton />
      <nav aria-label="Main" className="mt-3 flex flex-col gap-0.5">
        {usePlaces(projectId).map((place) => (
          <PlaceLink key={place.label} place={place} />
        ))}
      </nav>
      <div className="mt-auto flex items-center gap-1">
        <IconButton label={dark ? "Light theme" : "Dark theme"} onClick={() => setTheme(dark ? "light" : "dark")}>
          {dark ? <Sun className="size-4" aria-hidden /> : <Moon className="size-4" aria-hidden />}
        </IconButton>
        <IconButton label="Keyboard shortcuts" keys="?" onClick={onKeys}>
          <Keyboard className="size-4" aria-hidden />
        </IconButton>
        <a href="/docs" className="ml-auto rounded-sm px-2 py-1 text-faint text-xs hover:text-ink">
          API
        </a>
      </div>
    </aside>
  );
}

const PLACE =
  "flex items-center gap-2 rounded-md text-muted transition-colors hover:bg-hover hover:text-ink aria-[current=page]:bg-press aria-[current=page]:text-ink aria-[current=page]:font-medium";

function PlaceLink({ place: { to, params, label, icon: Icon, mark }, below }: { place: Place; below?: boolean }) {
  return (
    // The places are a list of data; the router cannot check their parameters one by one.
    <Link
      to={to as "/"}
      params={params as never}
      className={cx(PLACE, below ? "min-h-12 flex-1 flex-col justify-center gap-0.5 text-xs" : "h-8 px-2 text-sm")}
    >
      <Icon className="size-4 shrink-0" aria-hidden />
      <span className={below ? undefined : "flex-1"}>{label}</span>
      {mark ? <span className="rounded-full bg-bad-soft px-1.5 text-bad text-xs tabular">{mark}</span> : null}
    </Link>
  );
}

function BottomBar({ projectId, onSearch }: { projectId: string | undefined; onSearch: () => void }) {
  return (
    <nav
      aria-label="Main"
      className="flex shrink-0 border-line border-t bg-sunken pb-[env(safe-area-inset-bottom)] md:hidden"
    >
      {usePlaces(projectId).map((place) => (
        <PlaceLink key={place.label} place={place} below />
      ))}
      <WaitingButton below />
      <button
        type="button"
        onClick={onSearch}
        className={cx(PLACE, "min-h-12 flex-1 flex-col justify-center gap-0.5 text-xs")}
      >
        <Search className="size-4" aria-hidden />
        Search
      </button>
    </nav>
  );
}
