// What the money got: how models serve, and what workers do with it.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { modelsUsageQuery, type Period, workersUsageQuery } from "../../api/queries/costs";
import { Ago } from "../../ui/clock";
import { money, short } from "../../ui/format";
import { Skeleton } from "../../ui/skeleton";
import { Failure } from "../../ui/state";
import { Table, Td, Th } from "../../ui/table";
import { Card } from "./figure-card";

/** Small prices in full; none at all is that of a model without a known price. */
const precise = (usd: number): string => (usd === 0 ? "–" : usd >= 0.01 ? money(usd) : `$${usd.toFixed(4)}`);

export function Models({ period }: { period: Period }) {
  const { data, error } = useQuery({ ...modelsUsageQuery(period), placeholderData: (before) => before });
  if (error) return <Failure error={error} />;
  if (data?.length === 0) return null;
  return (
    <Card title="Model performance">
      {data === undefined ? (
        <Skeleton rows={8} />
      ) : (
        <Table label="Model performance">
          <thead>
            <tr>
              <Th>Model</Th>
              <Th number>Calls</Th>
              <Th number title="Cost per million tokens">
                Per 1M
              </Th>
              <Th number className="max-sm:hidden">
                Latency
              </Th>
              <Th number title="Share of the input that came from the cache">
                Cache
              </Th>
            </tr>
          </thead>
          <tbody>
            {data.map((model) => (
              <tr key={model.model} className="hover:bg-hover">
                <Td className="w-full max-w-0 truncate">{model.model || "Unknown model"}</Td>
                <Td number>{model.call_count === 0 ? "–" : model.call_count.toLocaleString("en-US")}</Td>
                <Td number>{precise(model.avg_cost_per_1k_tokens * 1000)}</Td>
                <Td number className="max-sm:hidden">
                  {model.avg_latency_ms === null ? "–" : `${(model.avg_latency_ms / 1000).toFixed(1)}s`}
                </Td>
                <Td number>{model.cache_hit_rate === null ? "–" : `${Math.round(model.cache_hit_rate * 100)}%`}</Td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
    </Card>
  );
}

export function Workers({ period }: { period: Period }) {
  const { data, error } = useQuery({ ...workersUsageQuery(period), placeholderData: (before) => before });
  if (error) return <Failure error={error} />;
  if (data?.length === 0) return null;
  return (
    <Card title="Worker efficiency">
      {data === undefined ? (
        <Skeleton rows={8} />
      ) : (
        <Table label="Worker efficiency">
          <thead>
            <tr>
              <Th>Worker</Th>
              <Th number>Calls</Th>
              <Th number title="Cost per call">
                Per call
              </Th>
              <Th number title="Tokens per dollar">
                Per $
              </Th>
              <Th number>Cost</Th>
              <Th number className="max-sm:hidden">
                Active
              </Th>
            </tr>
          </thead>
          <tbody>
            {data.map((worker) => (
              <tr key={worker.worker_id} className="relative hover:bg-hover">
                <Td className="w-full max-w-0 truncate">
                  <Link
                    to="/fleet"
                    search={{ view: "workers", worker: worker.worker_id }}
                    className="after:absolute after:inset-0"
                  >
                    {worker.worker_id}
                  </Link>
                </Td>
                <Td number>{worker.call_count.toLocaleString("en-US")}</Td>
                <Td number>{precise(worker.avg_cost_per_call)}</Td>
                <Td number>{worker.efficiency_score === null ? "–" : short(Math.round(worker.efficiency_score))}</Td>
                <Td number className="font-medium">
                  {money(worker.total_cost_usd)}
                </Td>
                <Td number className="text-muted max-sm:hidden">
                  <Ago time={worker.last_active} />
                </Td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
    </Card>
  );
}
