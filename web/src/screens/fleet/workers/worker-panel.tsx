// One worker: what is wrong with it and what to do, its screen, and everything that can be done with it.

import type { ListedWorker } from "@forge/client";
import { Badge, Dot } from "../../../ui/badge";
import { Ago } from "../../../ui/clock";
import { timeOfDay } from "../../../ui/format";
import { Note } from "../../../ui/state";
import { FINDING, PHASE, STANDING, standingOf, TIER } from "../fleet-words";
import { AttemptLink, BeadLink } from "../links";
import { Facts, Panel, Section } from "../side-panel";
import { Pane } from "./pane";
import { WorkerActions } from "./worker-actions";

export function WorkerPanel({ worker, onClose }: { worker: ListedWorker; onClose: () => void }) {
  const standing = STANDING[standingOf(worker)];
  const beside = (
    <Badge tone={standing.tone} icon={<Dot tone={standing.tone} />}>
      {standing.title}
    </Badge>
  );
  return (
    <Panel title={worker.id} beside={beside} onClose={onClose}>
      <WorkerActions worker={worker} onGone={onClose} />
      {worker.managed && <Findings worker={worker} />}
      {!worker.managed && (
        <p className="rounded-md border border-line bg-sunken p-3 text-muted text-sm">
          Forge did not start this session and leaves it alone. Adopt it to watch its health and to type into it.
        </p>
      )}
      {worker.has_session && <Pane worker={worker} />}
      <Section title="About">
        <Facts facts={factsOf(worker)} />
      </Section>
    </Panel>
  );
}

function Findings({ worker }: { worker: ListedWorker }) {
  const { findings } = worker.health;
  const ended = worker.phase === "stopped" || worker.phase === "finished";
  if (ended || (findings.length === 0 && !worker.note)) return null;
  return (
    <Section title="Findings">
      <ul className="flex flex-col gap-2" aria-live="polite">
        {worker.note && <li className="rounded-md bg-sunken p-3 text-sm">{sentence(worker.note)}</li>}
        {findings.map((finding) => (
          <li key={finding}>
            <Note>
              <p className="font-medium">{FINDING[finding].title}</p>
              <p className="text-muted">{FINDING[finding].remedy}</p>
            </Note>
          </li>
        ))}
      </ul>
    </Section>
  );
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function factsOf(worker: ListedWorker): [string, React.ReactNode][] {
  const facts: [string, React.ReactNode][] = [
    ["Phase", PHASE[worker.phase]],
    ["Model", worker.model || "Not known"],
    ["Tier", TIER[worker.tier].title],
  ];
  if (worker.bead) {
    const { workspace, id, title, attempt_id } = worker.bead;
    facts.push(["Bead", <BeadLink key="bead" workspace={workspace} bead={id} title={title} />]);
    if (attempt_id) facts.push(["Attempt", <AttemptLink key="attempt" attemptId={attempt_id} />]);
  }
  if (worker.parked_until) facts.push(["Parked until", timeOfDay(worker.parked_until)]);
  const mono = (text: string) => <span className="break-all font-mono text-xs">{text}</span>;
  facts.push(["Workspace", mono(worker.workspace)], ["Session", mono(worker.session)]);
  const attach = worker.managed
    ? `forge worker attach ${worker.id}`
    : `tmux -S ${worker.socket} attach -t ${worker.session}`;
  if (worker.has_session) facts.push(["Attach with", mono(attach)]);
  if (worker.managed) facts.push(["Log", mono(worker.log)]);
  if (worker.started_at) facts.push(["Started", <Ago key="started" time={worker.started_at} />]);
  const last = worker.restarts.at(-1);
  if (last)
    facts.push([
      "Restarts",
      <span key="restarts">
        {worker.restarts.length}, the last <Ago time={last} />
      </span>,
    ]);
  return facts;
}
