// The fleet: workers, the beads they work on, who got what and why, and what a person should know.

import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { alertsQuery } from "../../api/queries/fleet";
import type { FleetView } from "../../routes";
import { useCommands } from "../../shell/commands";
import { Page } from "../../shell/page";
import { Alerts } from "./alerts";
import { Beads } from "./beads";
import { RoutingView } from "./routing";
import { Workers } from "./workers";

const route = getRouteApi("/fleet");

const VIEWS: readonly { view: FleetView; title: string; keys: string; show: () => React.ReactNode }[] = [
  { view: "workers", title: "Workers", keys: "1", show: () => <Workers /> },
  { view: "beads", title: "Beads", keys: "2", show: () => <Beads /> },
  { view: "routing", title: "Routing", keys: "3", show: () => <RoutingView /> },
  { view: "alerts", title: "Alerts", keys: "4", show: () => <Alerts /> },
];

const TAB =
  "flex h-8 items-center gap-1.5 rounded-md px-2.5 text-muted text-sm hover:bg-hover hover:text-ink aria-[current=page]:bg-press aria-[current=page]:font-medium aria-[current=page]:text-ink pointer-coarse:h-11";

export function Fleet() {
  const { view = "workers", project } = route.useSearch();
  const { data: alerts } = useQuery(alertsQuery());
  const navigate = useNavigate();
  const unseen = alerts?.filter((alert) => !alert.resolved_at && !alert.acknowledged_at).length;
  useCommands(
    VIEWS.map(({ view, title, keys }) => ({
      id: `fleet-${view}`,
      label: title,
      group: "Fleet",
      keys,
      run: () => void navigate({ to: "/fleet", search: { view, project } }),
    })),
  );
  const tabs = (
    <nav aria-label="Fleet" className="-mx-1 flex gap-0.5 overflow-x-auto p-1">
      {VIEWS.map(({ view: each, title }) => (
        // Whose beads are listed stays; what is open beside the list does not.
        <Link
          key={each}
          to="/fleet"
          search={{ view: each, project }}
          activeProps={{}}
          aria-current={each === view ? "page" : undefined}
          className={TAB}
        >
          {title}
          {each === "alerts" && unseen ? (
            <span className="rounded-full bg-bad-soft px-1.5 text-bad text-xs tabular">{unseen}</span>
          ) : null}
        </Link>
      ))}
    </nav>
  );
  return (
    <Page title="Fleet" beside={tabs}>
      {VIEWS.find((each) => each.view === view)?.show()}
    </Page>
  );
}
