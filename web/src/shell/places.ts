// Where one can go from anywhere. A row is an entry of the sidebar and of the bottom bar, a sequence of keys, a row of
// the palette, and a screen that the browser tests look at.

import { Bot, CircleDollarSign, LayoutGrid, type LucideIcon, Settings2 } from "lucide-react";
import { type Action, actionsAt } from "./action";

interface Row {
  label: string;
  keys: string;
  /** More words to find it by. */
  words?: string;
  icon: LucideIcon;
  to: "/projects/$projectId/tasks" | "/projects" | "/fleet" | "/costs" | "/settings";
  /** Not in the bars with a project, or not without one. By key it is reached all the same. */
  only?: "with a project" | "without a project";
  /** What it counts beside its name. */
  mark?: "alerts";
}

const ROWS = {
  board: { label: "Board", keys: "g b", icon: LayoutGrid, to: "/projects/$projectId/tasks", only: "with a project" },
  projects: { label: "Projects", keys: "g p", icon: LayoutGrid, to: "/projects", only: "without a project" },
  fleet: {
    label: "Fleet",
    keys: "g f",
    words: "workers beads alerts routing",
    icon: Bot,
    to: "/fleet",
    mark: "alerts",
  },
  costs: { label: "Costs", keys: "g c", words: "usage tokens money", icon: CircleDollarSign, to: "/costs" },
  settings: { label: "Settings", keys: "g s", icon: Settings2, to: "/settings" },
} as const satisfies Record<string, Row>;

export type Place = Row & { action: Action };

const GO = actionsAt("", "Go to", ROWS);

export const PLACES: readonly Place[] = Object.entries<Row>(ROWS).map(([name, row]) => ({
  ...row,
  action: GO[name as keyof typeof ROWS],
}));

/** Those of the bars. */
export const placesShown = (hasProject: boolean): readonly Place[] =>
  PLACES.filter(({ only }) => only === undefined || only === (hasProject ? "with a project" : "without a project"));
