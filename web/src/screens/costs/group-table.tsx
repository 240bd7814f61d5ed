import { useQuery } from "@tanstack/react-query";
import { type Period, usageQuery } from "../../api/queries/costs";
import { money, short } from "../../ui/format";
import { Skeleton } from "../../ui/skeleton";
import { Failure } from "../../ui/state";
import { Table, Td, Th } from "../../ui/table";
import { Card, Share } from "./figure-card";
import { type Grouping, keptFor, keyOf, type Names, sortGroups, WIRE } from "./usage";

interface Props {
  title: string;
  by: Grouping;
  period: Period;
  names: Names;
}

/** Tokens, runs and cost of each group. It is asked for by itself: a run of two days counts once here. */
export function GroupTable({ title, by, period, names }: Props) {
  const { data, error } = useQuery({ ...usageQuery(WIRE[by], period), placeholderData: keptFor(WIRE[by]) });
  if (error) return <Failure error={error} />;
  const whole = data?.total.cost_usd ?? 0;
  const unpriced = data?.total.unpriced_tokens ?? 0;
  return (
    <Card title={title}>
      {data === undefined ? (
        <Skeleton rows={8} />
      ) : (
        <Table label={title}>
          <thead>
            <tr>
              <Th>Name</Th>
              <Th number className="max-sm:hidden">
                Runs
              </Th>
              <Th number className="max-md:hidden">
                Input
              </Th>
              <Th number className="max-md:hidden">
                Output
              </Th>
              <Th number className="max-lg:hidden">
                Cache read
              </Th>
              <Th number className="max-lg:hidden">
                Cache write
              </Th>
              <Th number>Cost</Th>
              <Th number>Share</Th>
            </tr>
          </thead>
          <tbody>
            {sortGroups(data.groups).map((group) => (
              <tr key={keyOf(group, by)} className="hover:bg-hover">
                <Td className="w-full max-w-0 truncate">{names(keyOf(group, by))}</Td>
                <Td number className="max-sm:hidden">
                  {group.runs.toLocaleString("en-US")}
                </Td>
                <Td number className="max-md:hidden">
                  {short(group.input_tokens)}
                </Td>
                <Td number className="max-md:hidden">
                  {short(group.output_tokens)}
                </Td>
                <Td number className="max-lg:hidden">
                  {short(group.cache_read_tokens)}
                </Td>
                <Td number className="max-lg:hidden">
                  {short(group.cache_write_tokens)}
                </Td>
                <Td number className="font-medium">
                  {group.cost_usd === null ? (
                    <span className="font-normal text-faint">no price</span>
                  ) : (
                    money(group.cost_usd)
                  )}
                </Td>
                <Td number>
                  <Share part={whole > 0 ? (group.cost_usd ?? 0) / whole : 0} />
                </Td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
      {unpriced > 0 && (
        <p className="px-4 py-2.5 text-muted text-xs">
          Excludes {short(unpriced)} tokens from models without a known price.
        </p>
      )}
    </Card>
  );
}
