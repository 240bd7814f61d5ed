// What a person should know, the gravest first. What is over is folded away.

import type { Alert } from "@forge/client";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { BellOff, Check, CheckCheck, ChevronRight, CircleAlert, Info, TriangleAlert } from "lucide-react";
import { useState } from "react";
import { forge } from "../../api/forge";
import { alertsQuery } from "../../api/queries/fleet";
import { bind } from "../../shell/action";
import { CommandButton } from "../../shell/command";
import { useCommands } from "../../shell/commands";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { cx } from "../../ui/class";
import { Ago } from "../../ui/clock";
import { count } from "../../ui/format";
import { Skeleton } from "../../ui/skeleton";
import { Empty, Failure } from "../../ui/state";
import { ALERTS } from "./actions";
import { ALERT, OF_WORKERS, SEVERITY } from "./fleet-words";
import { sortAlerts } from "./order";
import { Split } from "./side-panel";

const ICON = { critical: CircleAlert, warning: TriangleAlert, info: Info };
const INK = { critical: "text-bad", warning: "text-warn", info: "text-info" };

export function Alerts() {
  const { data, error, refetch } = useQuery(alertsQuery());
  const [showResolved, setShowResolved] = useState(false);
  const seeAll = useMutation({ mutationFn: () => forge.request("POST /api/alerts/ack-all", {}) });
  const { open, resolved } = sortAlerts(data ?? []);
  const unseen = open.filter((alert) => !alert.acknowledged_at).length;
  const seesAll = bind(ALERTS.seeAll, () => seeAll.mutate(), unseen > 0);
  useCommands([seesAll]);
  const toolbar = (
    <>
      <p className="text-sm" aria-live="polite">
        {data &&
          (unseen > 0 ? `${unseen} not acknowledged` : open.length > 0 ? "All acknowledged" : "Nothing is wrong")}
      </p>
      <CommandButton
        of={seesAll}
        className="ml-auto"
        busy={seeAll.isPending}
        icon={<CheckCheck className="size-4" aria-hidden />}
      >
        Acknowledge all
      </CommandButton>
    </>
  );
  if (error && data === undefined) return <Failure error={error} onRetry={() => void refetch()} />;
  return (
    <Split toolbar={toolbar} panel={null}>
      <div className="min-h-0 flex-1 overflow-y-auto">
        {data === undefined ? (
          <Skeleton />
        ) : data.length === 0 ? (
          <Empty icon={<BellOff aria-hidden />} title="No alerts">
            Crashes, waiting workers, budgets and limits show up here.
          </Empty>
        ) : (
          <ul>
            {open.map((alert) => (
              <Row key={alert.id} alert={alert} />
            ))}
          </ul>
        )}
        {resolved.length > 0 && (
          <>
            <Button
              weight="ghost"
              size="sm"
              className="mx-2 my-1"
              aria-expanded={showResolved}
              icon={
                <ChevronRight className={cx("size-4 transition-transform", showResolved && "rotate-90")} aria-hidden />
              }
              onClick={() => setShowResolved(!showResolved)}
            >
              {resolved.length} resolved
            </Button>
            {showResolved && (
              <ul>
                {resolved.map((alert) => (
                  <Row key={alert.id} alert={alert} />
                ))}
              </ul>
            )}
          </>
        )}
      </div>
    </Split>
  );
}

function Row({ alert }: { alert: Alert }) {
  const see = useMutation({
    mutationFn: () => forge.request("POST /api/alerts/{alert_id}/ack", { path: { alert_id: alert.id } }),
  });
  const Icon = ICON[alert.severity];
  const quiet = alert.resolved_at !== null || alert.acknowledged_at !== null;
  return (
    <li className="flex items-start gap-3 border-line border-b px-4 py-2.5 text-sm">
      <Icon className={cx("mt-0.5 size-4 shrink-0", quiet ? "text-faint" : INK[alert.severity])} aria-hidden />
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <span className={cx(!quiet && "font-medium")}>{ALERT[alert.kind]}</span>
          <Badge tone={quiet ? "neutral" : SEVERITY[alert.severity].tone}>{SEVERITY[alert.severity].title}</Badge>
          {alert.count > 1 && <Badge title={count(alert.count, "time")}>×{alert.count}</Badge>}
        </p>
        <p className="break-words text-muted">{alert.message}</p>
        <p className="mt-0.5 flex flex-wrap gap-x-3 text-faint text-xs">
          <span>
            Last <Ago time={alert.last_at} />
          </span>
          {alert.first_at !== alert.last_at && (
            <span>
              First <Ago time={alert.first_at} />
            </span>
          )}
          {OF_WORKERS.has(alert.kind) && (
            <Link
              to="/fleet"
              search={{ view: "workers", worker: alert.subject }}
              className="text-accent hover:underline"
            >
              Look at {alert.subject}
            </Link>
          )}
        </p>
      </div>
      {alert.resolved_at ? (
        <span className="shrink-0 text-faint text-xs">Resolved</span>
      ) : alert.acknowledged_at ? (
        <span className="shrink-0 text-faint text-xs">Acknowledged</span>
      ) : (
        <Button
          size="sm"
          busy={see.isPending}
          icon={<Check className="size-4" aria-hidden />}
          onClick={() => see.mutate()}
        >
          Acknowledge
        </Button>
      )}
    </li>
  );
}
