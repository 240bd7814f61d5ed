// The workers: how each is, what it is doing and where. Events keep it true; memory and foreign sessions, which have no
// events, are looked at every few seconds.

import type { ListedWorker } from "@forge/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { Bot, ChevronRight, Plus } from "lucide-react";
import { memo, useState } from "react";
import { workersQuery } from "../../../api/queries/fleet";
import { bind } from "../../../shell/action";
import { CommandButton } from "../../../shell/command";
import { useCommands } from "../../../shell/commands";
import { Badge, Dot } from "../../../ui/badge";
import { Button } from "../../../ui/button";
import { cx } from "../../../ui/class";
import { Elapsed } from "../../../ui/clock";
import { Skeleton } from "../../../ui/skeleton";
import { Empty, Failure } from "../../../ui/state";
import { Table, Td, Th } from "../../../ui/table";
import { WORKERS } from "../actions";
import { PHASE, STANDING, type Standing, standingOf, TIER } from "../fleet-words";
import { countStandings, sortWorkers } from "../order";
import { Missing, SELECTED, Split } from "../side-panel";
import { StartWorker } from "./start-worker";
import { WorkerPanel } from "./worker-panel";

const LOOK_MS = 10_000;
const COUNTED = ["healthy", "degraded", "critical", "failed"] as const;
const route = getRouteApi("/fleet");

export function Workers() {
  const { worker: openId } = route.useSearch();
  const { data, error, refetch } = useQuery({ ...workersQuery(), refetchInterval: LOOK_MS });
  const [starting, setStarting] = useState(false);
  const navigate = useNavigate();
  const open = (worker?: string): void => void navigate({ to: "/fleet", search: { view: "workers", worker } });
  const starts = bind(WORKERS.start, () => setStarting(true));
  useCommands([starts]);
  const start = <CommandButton of={starts} weight="primary" icon={<Plus className="size-4" aria-hidden />} />;
  const shown = data?.find(({ id }) => id === openId);
  const toolbar = (
    <>
      {data?.length !== 0 && <Counts workers={data} />}
      <div className="ml-auto">{start}</div>
    </>
  );
  return (
    <Split
      toolbar={toolbar}
      panel={
        shown ? (
          <WorkerPanel key={shown.id} worker={shown} onClose={() => open()} />
        ) : data && openId ? (
          <Missing what="worker" id={openId} onClose={() => open()} />
        ) : null
      }
    >
      {error && data === undefined ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Skeleton />
      ) : data.length === 0 ? (
        <Empty icon={<Bot aria-hidden />} title="No workers yet">
          A worker is an agent in a tmux session: you can look at its screen, type into it and leave it running. Start
          one here, or let dispatch start them for ready beads.
        </Empty>
      ) : (
        <List workers={data} openId={openId} />
      )}
      <StartWorker open={starting} onOpenChange={setStarting} onStarted={(id) => open(id)} />
    </Split>
  );
}

/** It has its place before there is anything to count. */
function Counts({ workers }: { workers: readonly ListedWorker[] | undefined }) {
  const counts = countStandings(workers ?? []);
  return (
    <dl className={cx("flex flex-wrap gap-x-4 gap-y-1 text-sm", !workers && "invisible")} aria-live="polite">
      {COUNTED.map((standing) => (
        <div key={standing} className={cx("flex items-center gap-1.5", counts[standing] === 0 && "text-faint")}>
          <Dot tone={counts[standing] === 0 ? "neutral" : STANDING[standing].tone} />
          <dd className="font-medium tabular">{counts[standing]}</dd>
          <dt>{STANDING[standing].title.toLowerCase()}</dt>
        </div>
      ))}
    </dl>
  );
}

function List({ workers, openId }: { workers: readonly ListedWorker[]; openId: string | undefined }) {
  const [showEnded, setShowEnded] = useState(false);
  const sorted = sortWorkers(workers);
  const ended = sorted.filter((worker) => standingOf(worker) === "ended");
  // One that is open is in sight, however it stands.
  const unfolded = showEnded || ended.some(({ id }) => id === openId);
  return (
    <Table label="Workers" sticky className="min-h-0 flex-1">
      <thead>
        <tr>
          <Th>Health</Th>
          <Th>Worker</Th>
          <Th className="max-sm:hidden">Model</Th>
          <Th className={cx("max-md:hidden", openId && "max-xl:hidden")}>Tier</Th>
          <Th>Phase</Th>
          <Th className="max-md:hidden">Bead</Th>
          <Th className={cx("max-lg:hidden", openId && "hidden")}>Workspace</Th>
          <Th number className={cx("max-lg:hidden", openId && "max-xl:hidden")}>
            Memory
          </Th>
          <Th number className={cx("max-lg:hidden", openId && "max-xl:hidden")}>
            Restarts
          </Th>
          <Th number className={cx("max-sm:hidden", openId && "max-xl:hidden")}>
            Age
          </Th>
        </tr>
      </thead>
      <tbody>
        {sorted
          .filter((worker) => standingOf(worker) !== "ended")
          .map((worker) => (
            <Row key={worker.id} worker={worker} open={worker.id === openId} narrow={openId !== undefined} />
          ))}
      </tbody>
      {ended.length > 0 && (
        <tbody>
          <tr>
            <td colSpan={10} className="px-2">
              <Button
                weight="ghost"
                size="sm"
                aria-expanded={unfolded}
                className="my-1"
                icon={
                  <ChevronRight className={cx("size-4 transition-transform", unfolded && "rotate-90")} aria-hidden />
                }
                onClick={() => setShowEnded(!unfolded)}
              >
                {ended.length} ended
              </Button>
            </td>
          </tr>
          {unfolded &&
            ended.map((worker) => (
              <Row key={worker.id} worker={worker} open={worker.id === openId} narrow={openId !== undefined} />
            ))}
        </tbody>
      )}
    </Table>
  );
}

const isAlive = (standing: Standing, worker: ListedWorker): boolean =>
  standing !== "ended" && standing !== "failed" && worker.phase === "running" && worker.bead !== null;

const Row = memo(function Row({ worker, open, narrow }: { worker: ListedWorker; open: boolean; narrow: boolean }) {
  const standing = standingOf(worker);
  const { title, tone } = STANDING[standing];
  return (
    <tr className={cx("relative hover:bg-hover", open && SELECTED)}>
      <Td className="whitespace-nowrap">
        <span className="flex items-center gap-2">
          <Dot tone={tone} alive={isAlive(standing, worker)} />
          {title}
        </span>
      </Td>
      <Td className="max-w-56">
        <Link
          to="/fleet"
          search={{ view: "workers", worker: worker.id }}
          data-row
          aria-current={open ? "true" : undefined}
          className="block truncate font-medium after:absolute after:inset-0"
        >
          {worker.id}
        </Link>
        {worker.bead && <span className="block truncate text-faint text-xs md:hidden">{worker.bead.title}</span>}
      </Td>
      <Td className="max-w-48 truncate max-sm:hidden">{worker.model}</Td>
      <Td className={cx("max-md:hidden", narrow && "max-xl:hidden")}>
        <Badge tone={TIER[worker.tier].tone}>{TIER[worker.tier].title}</Badge>
      </Td>
      <Td className="whitespace-nowrap text-muted">{PHASE[worker.phase]}</Td>
      <Td className="w-full max-w-0 max-md:hidden">
        {worker.bead ? (
          <span className="block truncate">
            <span className="font-mono text-faint text-xs">{worker.bead.id}</span> {worker.bead.title}
          </span>
        ) : (
          worker.note && <span className="block truncate text-faint">{worker.note}</span>
        )}
      </Td>
      <Td className={cx("max-w-56 max-lg:hidden", narrow && "hidden")}>
        <span className="block truncate text-muted text-xs" title={worker.workspace}>
          {worker.workspace}
        </span>
      </Td>
      <Td number className={cx("max-lg:hidden", narrow && "max-xl:hidden")}>
        {worker.health.memory_mb === null ? <Nothing /> : `${worker.health.memory_mb.toLocaleString("en-US")} MB`}
      </Td>
      <Td number className={cx("max-lg:hidden", narrow && "max-xl:hidden")}>
        {worker.restarts.length || <Nothing />}
      </Td>
      <Td number className={cx("text-muted max-sm:hidden", narrow && "max-xl:hidden")}>
        {["stopped", "finished", "failed"].includes(worker.phase) ? (
          <Nothing />
        ) : (
          <Elapsed since={worker.started_at ?? worker.created_at} />
        )}
      </Td>
    </tr>
  );
});

/** An empty cell that is read out as such. */
function Nothing() {
  return (
    <span className="text-faint">
      <span aria-hidden>–</span>
      <span className="sr-only">none</span>
    </span>
  );
}
