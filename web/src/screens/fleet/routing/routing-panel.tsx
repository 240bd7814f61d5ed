// Why a piece of work went where it went, in words and figures.

import type { Routing } from "@forge/client";
import { Ago } from "../../../ui/clock";
import { duration, money } from "../../../ui/format";
import { Table, Td, Th } from "../../../ui/table";
import { modelName, REASON, TIER } from "../fleet-words";
import { AttemptLink, BeadLink, WorkerLink } from "../links";
import { Facts, Panel, Section } from "../side-panel";
import { Outcome } from "./routing";
import { SCORE_PARTS, totalOf } from "./score-bar";

export function RoutingPanel({ routing, onClose }: { routing: Routing; onClose: () => void }) {
  const { decision, wanted, passed_over, score } = routing;
  return (
    <Panel title={routing.title || routing.work} beside={<Outcome outcome={routing.outcome} />} onClose={onClose}>
      <Section title="Why">
        <p className="text-sm">
          {REASON[decision.reason].why} It got {modelName(decision.model)} of the tier{" "}
          {TIER[decision.tier].title.toLowerCase()}
          {wanted !== null && wanted !== decision.tier && `; ${TIER[wanted].title.toLowerCase()} was wanted`}.
        </p>
        {passed_over.length > 0 && (
          <ul className="flex flex-col gap-1 text-muted text-sm">
            {passed_over.map(({ model, why }) => (
              <li key={model}>
                <span className="text-ink">{modelName(model)}</span> was passed over: {why}
              </li>
            ))}
          </ul>
        )}
      </Section>
      <Section title="Score">
        <Table label="Parts of the score">
          <thead>
            <tr>
              <Th>Part</Th>
              <Th number>Points</Th>
              <Th number>Most</Th>
            </tr>
          </thead>
          <tbody>
            {SCORE_PARTS.map(({ part, title, most, fill }) => (
              <tr key={part}>
                <Td>
                  <span aria-hidden className={`mr-2 inline-block size-2 rounded-full ${fill}`} />
                  {title}
                </Td>
                <Td number>{score[part]}</Td>
                <Td number className="text-faint">
                  {most}
                </Td>
              </tr>
            ))}
            <tr className="font-medium">
              <Td>Total</Td>
              <Td number>{totalOf(score)}</Td>
              <Td number className="text-faint">
                100
              </Td>
            </tr>
          </tbody>
        </Table>
        <p className="text-faint text-xs">It looked {routing.complexity} of 100 hard.</p>
      </Section>
      <Section title="About">
        <Facts facts={factsOf(routing)} />
      </Section>
    </Panel>
  );
}

const LANDING = { review: "Wait for review", merge: "Merge", pr: "Open a pull request" };
const CLOSE_ON = { success: "when its agent succeeds", merge: "when its work is merged" };

function factsOf(routing: Routing): [string, React.ReactNode][] {
  const { attempt_id, worker, decision, actual_cost, ended_at, decided_at, by } = routing;
  const facts: [string, React.ReactNode][] = [
    ["Bead", <BeadLink key="bead" workspace={routing.workspace} bead={routing.work} title="" />],
  ];
  if (attempt_id) facts.push(["Attempt", <AttemptLink key="attempt" attemptId={attempt_id} />]);
  // The name of an attempt that stands for a worker says nothing more.
  if (worker && !worker.startsWith("attempt-")) facts.push(["Worker", <WorkerLink key="worker" worker={worker} />]);
  facts.push(["Decided", <Ago key="decided" time={decided_at} />]);
  if (ended_at) facts.push(["Took", duration(Date.parse(ended_at) - Date.parse(decided_at))]);
  facts.push([
    "Expected cost",
    decision.estimated_cost === null ? "Nothing to compare with yet" : money(decision.estimated_cost),
  ]);
  if (actual_cost !== null) facts.push(["Cost", money(actual_cost)]);
  facts.push(["When finished", `${LANDING[routing.landing]}; the bead is closed ${CLOSE_ON[routing.close_on]}`]);
  if (by) facts.push(["Asked by", by]);
  return facts;
}
