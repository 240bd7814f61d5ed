// The frame around every screen: navigation at the side (below on a phone), what is wrong at the top, the screen itself.

import { useQuery } from "@tanstack/react-query";
import { Link, linkOptions, Outlet, useNavigate, useParams } from "@tanstack/react-router";
import { Flame, Keyboard, Moon, Search, Sun } from "lucide-react";
import { useEffect, useState } from "react";
import { alertsQuery } from "../api/queries/fleet";
import { projectsQuery } from "../api/queries/project";
import { pressing } from "../parts/alerts";
import { cx } from "../ui/class";
import { Kbd } from "../ui/kbd";
import { useMedia } from "../ui/media";
import { Toasts } from "../ui/toast";
import { bind } from "./action";
import { PAGE } from "./actions";
import { CommandIcon } from "./command";
import { listenForKeys, useCommands } from "./commands";
import { ConnectionBanner } from "./connection-banner";
import { KeysHelp } from "./keys-help";
import { lastProject, rememberProject } from "./last-project";
import { Notices } from "./notices";
import { Palette } from "./palette";
import { PLACES, type Place, placesShown } from "./places";
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

const PLACE =
  "flex items-center gap-2 rounded-md text-muted transition-colors hover:bg-hover hover:text-ink aria-[current=page]:bg-press aria-[current=page]:text-ink aria-[current=page]:font-medium";

function useShellCommands(projectId: string | undefined, search: () => void, help: () => void): void {
  const navigate = useNavigate();
  useCommands([
    bind(PAGE.palette, search),
    bind(PAGE.help, help),
    ...PLACES.map((place) => bind(place.action, () => void navigate(linkTo(place, projectId)))),
    bind(PAGE.light, () => setTheme("light")),
    bind(PAGE.dark, () => setTheme("dark")),
    bind(PAGE.system, () => setTheme("system")),
  ]);
}

function linkTo({ to }: Place, projectId: string | undefined) {
  if (to !== "/projects/$projectId/tasks") return linkOptions({ to });
  return projectId ? linkOptions({ to, params: { projectId } }) : linkOptions({ to: "/projects" });
}

function Places({ projectId, below }: { projectId: string | undefined; below?: boolean }) {
  const marks = { alerts: pressing(useQuery(alertsQuery()).data) };
  return placesShown(projectId !== undefined).map((place) => {
    const { label, icon: Icon } = place;
    const mark = place.mark && marks[place.mark];
    return (
      <Link
        key={place.to}
        {...linkTo(place, projectId)}
        className={cx(PLACE, below ? "min-h-12 flex-1 flex-col justify-center gap-0.5 text-xs" : "h-8 px-2 text-sm")}
      >
        <Icon className="size-4 shrink-0" aria-hidden />
        <span className={below ? undefined : "flex-1"}>{label}</span>
        {mark ? <span className="rounded-full bg-bad-soft px-1.5 text-bad text-xs tabular">{mark}</span> : null}
      </Link>
    );
  });
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
  const isDarkSystem = useMedia("(prefers-color-scheme: dark)");
  const dark = theme === "dark" || (theme === "system" && isDarkSystem);
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
        <Kbd keys={PAGE.palette.keys} />
      </button>
      <WaitingButton />
      <nav aria-label="Main" className="mt-3 flex flex-col gap-0.5">
        <Places projectId={projectId} />
      </nav>
      <div className="mt-auto flex items-center gap-1">
        <CommandIcon of={dark ? bind(PAGE.light, () => setTheme("light")) : bind(PAGE.dark, () => setTheme("dark"))}>
          {dark ? <Sun className="size-4" aria-hidden /> : <Moon className="size-4" aria-hidden />}
        </CommandIcon>
        <CommandIcon of={bind(PAGE.help, onKeys)}>
          <Keyboard className="size-4" aria-hidden />
        </CommandIcon>
        <a href="/docs" className="ml-auto rounded-sm px-2 py-1 text-faint text-xs hover:text-ink">
          API
        </a>
      </div>
    </aside>
  );
}

function BottomBar({ projectId, onSearch }: { projectId: string | undefined; onSearch: () => void }) {
  return (
    <nav
      aria-label="Main"
      className="flex shrink-0 border-line border-t bg-sunken pb-[env(safe-area-inset-bottom)] md:hidden"
    >
      <Places projectId={projectId} below />
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
