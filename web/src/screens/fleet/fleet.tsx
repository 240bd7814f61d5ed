// The fleet: workers, the beads they work on, who got what and why, and what a person should know.

import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import type { ComponentType } from "react";
import { alertsQuery } from "../../api/queries/fleet";
import { pressing } from "../../parts/alerts";
import { bind } from "../../shell/action";
import { useCommands } from "../../shell/commands";
import { Page } from "../../shell/page";
import { FLEET_VIEWS, type FleetView } from "../../views";
import { FLEET } from "./actions";
import { Alerts } from "./alert-list";
import { Beads } from "./beads/beads";
import { RoutingView } from "./routing/routing";
import { Workers } from "./workers/workers";

const route = getRouteApi("/fleet");

const SHOWN: Record<FleetView, ComponentType> = {
  workers: Workers,
  beads: Beads,
  routing: RoutingView,
  alerts: Alerts,
};

const TAB =
  "flex h-8 items-center gap-1.5 rounded-md px-2.5 text-muted text-sm hover:bg-hover hover:text-ink aria-[current=page]:bg-press aria-[current=page]:font-medium aria-[current=page]:text-ink pointer-coarse:h-11";

export function Fleet() {
  const { view = "workers", project } = route.useSearch();
  const { data: alerts } = useQuery(alertsQuery());
  const navigate = useNavigate();
  const unseen = pressing(alerts);
  const View = SHOWN[view];
  useCommands(
    FLEET_VIEWS.map((view) => bind(FLEET[view], () => void navigate({ to: "/fleet", search: { view, project } }))),
  );
  const tabs = (
    <nav aria-label="Fleet" className="-mx-1 flex gap-0.5 overflow-x-auto p-1">
      {FLEET_VIEWS.map((each) => (
        // Whose beads are listed stays; what is open beside the list does not.
        <Link
          key={each}
          to="/fleet"
          search={{ view: each, project }}
          activeProps={{}}
          aria-current={each === view ? "page" : undefined}
          className={TAB}
        >
          {FLEET[each].label}
          {each === "alerts" && unseen ? (
            <span className="rounded-full bg-bad-soft px-1.5 text-bad text-xs tabular">{unseen}</span>
          ) : null}
        </Link>
      ))}
    </nav>
  );
  return (
    <Page title="Fleet" beside={tabs}>
      <View />
    </Page>
  );
}
