// Every address of the page. Addresses are shared and printed by other programs: they may be added to, not changed.

import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { Frame } from "./shell/frame";
import { lastProject } from "./shell/last-project";
import { NotFound, RouteFailure } from "./shell/not-found";
import { Waiting } from "./ui/state";
import { ATTEMPT_VIEWS, type AttemptView, FLEET_VIEWS, type FleetView } from "./views";

const root = createRootRoute({ component: Frame, notFoundComponent: NotFound, errorComponent: RouteFailure });
const at = <const P extends string>(path: P) => ({ getParentRoute: () => root, path });

const index = createRoute({
  ...at("/"),
  beforeLoad: () => {
    const projectId = lastProject();
    throw projectId
      ? redirect({ to: "/projects/$projectId/tasks", params: { projectId } })
      : redirect({ to: "/projects" });
  },
});

const projects = createRoute({
  ...at("/projects"),
  validateSearch: (search: Record<string, unknown>): { add?: true } => (search.add ? { add: true } : {}),
  component: lazyRouteComponent(() => import("./screens/start/start"), "Start"),
});

const project = createRoute({
  ...at("/projects/$projectId"),
  beforeLoad: ({ params }) => {
    throw redirect({ to: "/projects/$projectId/tasks", params });
  },
});

/** What the board shows, so that a filtered board can be shared. */
export interface BoardSearch {
  q?: string;
  agent?: string;
  label?: string;
  status?: string;
  /** The dialog for a new task is open. */
  new?: true;
}

const word = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

const board = createRoute({
  ...at("/projects/$projectId/tasks"),
  validateSearch: (search: Record<string, unknown>): BoardSearch => ({
    q: word(search.q),
    agent: word(search.agent),
    label: word(search.label),
    status: word(search.status),
    new: search.new ? true : undefined,
  }),
  component: lazyRouteComponent(() => import("./screens/board/board"), "Board"),
});

const task = createRoute({
  ...at("/projects/$projectId/tasks/$taskId"),
  // Without `stay` the newest attempt is opened, if there is one.
  validateSearch: (search: Record<string, unknown>): { stay?: true } => (search.stay ? { stay: true } : {}),
  component: lazyRouteComponent(() => import("./screens/task/task"), "TaskScreen"),
});

const attempt = createRoute({
  ...at("/projects/$projectId/tasks/$taskId/attempts/$attemptId"),
  validateSearch: (search: Record<string, unknown>): { view?: AttemptView; process?: string; file?: string } => ({
    view: ATTEMPT_VIEWS.find((view) => view === search.view),
    process: word(search.process),
    file: word(search.file),
  }),
  component: lazyRouteComponent(() => import("./screens/attempt/attempt"), "AttemptScreen"),
});

const compare = createRoute({
  ...at("/projects/$projectId/tasks/$taskId/compare"),
  validateSearch: (search: Record<string, unknown>): { a?: string; b?: string; file?: string } => ({
    a: word(search.a),
    b: word(search.b),
    file: word(search.file),
  }),
  component: lazyRouteComponent(() => import("./screens/compare/compare"), "Compare"),
});

/** What is open beside the list; `project` is whose beads are listed. */
export interface FleetSearch {
  view?: FleetView;
  worker?: string;
  project?: string;
  bead?: string;
  /** How beads are given to agents is open. */
  dispatch?: true;
  decision?: string;
}

const fleet = createRoute({
  ...at("/fleet"),
  validateSearch: (search: Record<string, unknown>): FleetSearch => ({
    view: FLEET_VIEWS.find((view) => view === search.view),
    worker: word(search.worker),
    project: word(search.project),
    bead: word(search.bead),
    dispatch: search.dispatch ? true : undefined,
    decision: word(search.decision),
  }),
  component: lazyRouteComponent(() => import("./screens/fleet/fleet"), "Fleet"),
});

const costs = createRoute({
  ...at("/costs"),
  validateSearch: (search: Record<string, unknown>): { by?: string; days?: number; project?: string } => ({
    by: word(search.by),
    days: typeof search.days === "number" ? search.days : undefined,
    project: word(search.project),
  }),
  component: lazyRouteComponent(() => import("./screens/costs/costs"), "Costs"),
});

const settings = createRoute({
  ...at("/settings"),
  beforeLoad: () => {
    throw redirect({ to: "/settings/$section", params: { section: "agents" } });
  },
});

const settingsSection = createRoute({
  ...at("/settings/$section"),
  validateSearch: (search: Record<string, unknown>): { project?: string; agent?: string } => ({
    project: word(search.project),
    agent: word(search.agent),
  }),
  component: lazyRouteComponent(() => import("./screens/settings/settings"), "Settings"),
});

export const router = createRouter({
  routeTree: root.addChildren([
    index,
    projects,
    project,
    board,
    task,
    attempt,
    compare,
    fleet,
    costs,
    settings,
    settingsSection,
  ]),
  defaultPreload: "intent",
  defaultPendingMs: 300,
  defaultPendingComponent: () => <Waiting what="Loading" />,
  scrollRestoration: false,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
