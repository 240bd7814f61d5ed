import type { UsageReport } from "@forge/client";
import { Table2 } from "lucide-react";
import { useState } from "react";
import type { Period } from "../../api/queries/costs";
import { Button } from "../../ui/button";
import { money } from "../../ui/format";
import { Card } from "./figure-card";
import { Legend, MOST_SERIES, Plot } from "./plot";
import { daysBetween, gather } from "./plot-scale";
import { type Grouping, type Names, seriesOf } from "./usage";

interface Props {
  report: UsageReport | undefined;
  period: Period;
  by: Grouping;
  names: Names;
  /** The limit of a day, if there is one. */
  perDay: number | undefined;
}

export function OverTime({ report, period, by, names, perDay }: Props) {
  const [asTable, setAsTable] = useState(false);
  const days = daysBetween(period.from, period.to);
  const series = gather(seriesOf(report?.groups ?? [], days, by, names), MOST_SERIES);
  // The limit is that of all projects together.
  const limit =
    perDay !== undefined && period.project_id === undefined
      ? { value: perDay, title: `Daily limit ${money(perDay)}` }
      : undefined;
  const toggle = (
    <Button
      size="sm"
      className="ml-auto"
      aria-pressed={asTable}
      icon={<Table2 className="size-4" aria-hidden />}
      onClick={() => setAsTable(!asTable)}
    >
      {asTable ? "Plot" : "Table"}
    </Button>
  );
  const total = report?.total.cost_usd;
  return (
    <Card
      title="Cost per day"
      beside={
        <>
          <span className="text-muted text-sm tabular">
            {total === undefined ? "" : `${money(total ?? 0)} in total`}
          </span>
          {toggle}
        </>
      }
    >
      <div className="flex min-h-[18.5rem] flex-col gap-3 px-4 pb-4">
        <Plot label="Cost per day" days={days} series={series} limit={limit} format={money} asTable={asTable} />
        {!asTable && <Legend series={series} format={money} />}
      </div>
    </Card>
  );
}
