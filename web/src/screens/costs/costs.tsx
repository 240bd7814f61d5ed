// What agents cost: this month against its limit, over time, by group, by task, and what the money got.

import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { CircleDollarSign, Download } from "lucide-react";
import { type Period, usageQuery } from "../../api/queries/costs";
import { projectsQuery } from "../../api/queries/project";
import { infoQuery } from "../../api/queries/settings";
import { bind } from "../../shell/action";
import { CommandButton } from "../../shell/command";
import { useCommands } from "../../shell/commands";
import { Page } from "../../shell/page";
import { Select } from "../../ui/field";
import { Empty, Failure } from "../../ui/state";
import { COSTS } from "./actions";
import { GroupTable } from "./group-table";
import { Month } from "./month";
import { OverTime } from "./over-time";
import { Models, Workers } from "./performance";
import { saveFile } from "./save-file";
import { TopTasks } from "./top-tasks";
import { GROUPINGS, keptFor, namesOf, periodOf, RANGES, toCsv, WIRE } from "./usage";

const route = getRouteApi("/costs");

export function Costs() {
  const search = route.useSearch();
  const navigate = useNavigate();
  const by = GROUPINGS.find((each) => each === search.by) ?? "model";
  const days = RANGES.find((each) => each === search.days) ?? 30;
  const period: Period = { ...periodOf(days), project_id: search.project };
  const { data: projects } = useQuery(projectsQuery());
  const { data: info } = useQuery(infoQuery());
  const groups = `day,${WIRE[by]}`;
  const daily = useQuery({ ...usageQuery(groups, period), placeholderData: keptFor(groups) });
  // Every answer about usage has the month.
  const { data: today } = useQuery(usageQuery("day", periodOf(1)));
  const change = (more: { by?: string; days?: number; project?: string }): void =>
    void navigate({ to: "/costs", search: { ...search, ...more }, replace: true });
  const failed = daily.error !== null && daily.data === undefined;
  const names = namesOf(by, projects ?? []);
  const save = (): void => {
    if (daily.data) saveFile(`forge-costs-${period.from}-${period.to}.csv`, toCsv(daily.data.groups, by, names));
  };
  const exports = bind(COSTS.csv, save, Boolean(daily.data?.groups.length));
  useCommands([exports, ...GROUPINGS.map((each) => bind(COSTS[each], () => change({ by: each })))]);
  const actions = (
    <>
      <Select
        label="Project"
        hideLabel
        options={[
          { value: "", label: "All projects" },
          ...(projects ?? []).map(({ id, name }) => ({ value: id, label: name })),
        ]}
        value={search.project ?? ""}
        onChange={(event) => change({ project: event.target.value || undefined })}
      />
      <Select
        label="Group"
        hideLabel
        options={GROUPINGS.map((each) => ({ value: each, label: COSTS[each].label }))}
        value={by}
        onChange={(event) => change({ by: event.target.value })}
      />
      <Select
        label="Days"
        hideLabel
        options={RANGES.map((each) => ({ value: String(each), label: `${each} days` }))}
        value={String(days)}
        onChange={(event) => change({ days: Number(event.target.value) })}
      />
      <CommandButton of={exports} icon={<Download className="size-4" aria-hidden />}>
        Export CSV
      </CommandButton>
    </>
  );
  return (
    <Page title="Costs" actions={actions}>
      <div className="mx-auto flex max-w-[84rem] flex-col gap-6 p-4">
        {failed ? <Failure error={daily.error} onRetry={() => void daily.refetch()} /> : <Month month={today?.month} />}
        {failed ? null : daily.data?.groups.length === 0 ? (
          <Empty icon={<CircleDollarSign aria-hidden />} title="No usage in this period">
            Agents report tokens while they work: attempts in their output, workers in their logs. Forge counts each
            token once and prices what the agent reports without a cost.
          </Empty>
        ) : (
          <>
            <OverTime
              report={daily.data}
              period={period}
              by={by}
              names={names}
              perDay={info?.config.max_cost_usd_per_day}
            />
            <GroupTable title={COSTS[by].label} by={by} period={period} names={names} />
            <TopTasks period={period} />
            <div className="grid gap-6 lg:grid-cols-2">
              <Models period={period} />
              <Workers period={period} />
            </div>
            {daily.data && (
              <p className="text-faint text-xs">Prices as of {daily.data.prices_as_of}. Days are in UTC.</p>
            )}
          </>
        )}
      </div>
    </Page>
  );
}
