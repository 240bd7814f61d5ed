// Who got which work, why, and what came of it; the newest first.

import type { Routing } from "@forge/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { Route as RouteIcon } from "lucide-react";
import { memo } from "react";
import { routingQuery } from "../../../api/queries/fleet";
import { Badge } from "../../../ui/badge";
import { cx } from "../../../ui/class";
import { Ago } from "../../../ui/clock";
import { money } from "../../../ui/format";
import { Skeleton } from "../../../ui/skeleton";
import { Empty, Failure } from "../../../ui/state";
import { Table, Td, Th } from "../../../ui/table";
import { modelName, OUTCOME, REASON, TIER } from "../fleet-words";
import { SELECTED, Split } from "../side-panel";
import { RoutingPanel } from "./routing-panel";
import { ScoreBar } from "./score-bar";

const route = getRouteApi("/fleet");

export function RoutingView() {
  const { decision: openId } = route.useSearch();
  const { data, error, refetch } = useQuery(routingQuery());
  const navigate = useNavigate();
  const open = data?.find(({ id }) => id === openId);
  const close = (): void => void navigate({ to: "/fleet", search: { view: "routing" } });
  return (
    <Split panel={open ? <RoutingPanel key={open.id} routing={open} onClose={close} /> : null}>
      {error && data === undefined ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Skeleton />
      ) : data.length === 0 ? (
        <Empty icon={<RouteIcon aria-hidden />} title="No decisions yet">
          When dispatch gives a bead to an agent, it is written down here: which model was wanted, which one it got, and
          why.
        </Empty>
      ) : (
        <Table label="Routing decisions" sticky className="min-h-0 flex-1">
          <thead>
            <tr>
              <Th className="max-sm:hidden">When</Th>
              <Th className="max-sm:pl-4">Work</Th>
              <Th className="max-md:hidden">Got</Th>
              <Th className={cx("max-md:hidden", open && "hidden")}>Wanted</Th>
              <Th className={cx("max-lg:hidden", open && "max-xl:hidden")}>Why</Th>
              <Th className={cx("max-md:hidden", open && "max-xl:hidden")}>Score</Th>
              <Th className={cx("max-lg:pr-4", open && "pr-4")}>Outcome</Th>
              <Th number className={cx("max-lg:hidden", open && "hidden")}>
                Expected
              </Th>
              <Th number className={cx("max-lg:hidden", open && "hidden")}>
                Cost
              </Th>
            </tr>
          </thead>
          <tbody>
            {data.map((routing) => (
              <Row key={routing.id} routing={routing} open={routing.id === openId} narrow={open !== undefined} />
            ))}
          </tbody>
        </Table>
      )}
    </Split>
  );
}

const Row = memo(function Row({ routing, open, narrow }: { routing: Routing; open: boolean; narrow: boolean }) {
  const { decision, wanted, outcome } = routing;
  const otherTier = wanted !== null && wanted !== decision.tier;
  return (
    <tr className={cx("relative hover:bg-hover", open && SELECTED)}>
      <Td className="whitespace-nowrap text-muted max-sm:hidden">
        <Ago time={routing.decided_at} />
      </Td>
      <Td className="w-full max-w-0 max-sm:pl-4">
        <Link
          to="/fleet"
          search={{ view: "routing", decision: routing.id }}
          data-row
          aria-current={open ? "true" : undefined}
          className="block truncate after:absolute after:inset-0"
        >
          <span className="font-mono text-faint text-xs">{routing.work}</span> {routing.title}
        </Link>
      </Td>
      <Td className="whitespace-nowrap max-md:hidden">
        <span className="mr-2">{modelName(decision.model)}</span>
        <Badge tone={TIER[decision.tier].tone}>{TIER[decision.tier].title}</Badge>
      </Td>
      <Td className={cx("whitespace-nowrap max-md:hidden", narrow && "hidden")}>
        {wanted && <span className={otherTier ? "text-warn" : "text-muted"}>{TIER[wanted].title}</span>}
      </Td>
      <Td className={cx("whitespace-nowrap text-muted max-lg:hidden", narrow && "max-xl:hidden")}>
        {REASON[decision.reason].title}
      </Td>
      <Td className={cx("max-md:hidden", narrow && "max-xl:hidden")}>
        <ScoreBar score={routing.score} />
      </Td>
      <Td className={cx("whitespace-nowrap max-lg:pr-4", narrow && "pr-4")}>
        <Outcome outcome={outcome} />
      </Td>
      <Td number className={cx("text-muted max-lg:hidden", narrow && "hidden")}>
        {decision.estimated_cost === null ? "–" : money(decision.estimated_cost)}
      </Td>
      <Td number className={cx("max-lg:hidden", narrow && "hidden")}>
        {routing.actual_cost === null ? "–" : money(routing.actual_cost)}
      </Td>
    </tr>
  );
});

export function Outcome({ outcome }: { outcome: Routing["outcome"] }) {
  if (outcome === null) return <Badge tone="accent">Running</Badge>;
  return <Badge tone={OUTCOME[outcome].tone}>{OUTCOME[outcome].title}</Badge>;
}
