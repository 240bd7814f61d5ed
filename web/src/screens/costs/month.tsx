// The month: what it has cost, what it will have cost if it goes on like this, and what it may cost.

import type { MonthSpending } from "@forge/client";
import type { ReactNode } from "react";
import { cx } from "../../ui/class";
import { count, money } from "../../ui/format";
import { Card } from "./figure-card";

export function Month({ month }: { month: MonthSpending | undefined }) {
  const name =
    month &&
    new Date(`${month.month}-01`).toLocaleDateString(undefined, { timeZone: "UTC", month: "long", year: "numeric" });
  const limit = month?.limit_usd ?? null;
  const over = month && limit !== null && month.projected_usd > limit;
  const spent = month && limit !== null && month.spent_usd >= limit;
  return (
    <Card title={name ?? "This month"} beside={<span className="text-faint text-xs">All projects</span>}>
      <dl className="grid grid-cols-2 gap-4 px-4 pb-4 sm:grid-cols-4">
        <Figure
          name="Spent"
          note={limit !== null && month ? `${Math.round((month.spent_usd / limit) * 100)}% of the limit` : undefined}
        >
          {month && money(month.spent_usd)}
        </Figure>
        <Figure name="Projected" note={over && !spent ? "Above the limit" : undefined} bad={over}>
          {month && money(month.projected_usd)}
        </Figure>
        <Figure name="Limit" note={spent ? "Reached: nothing new is started" : undefined} bad={spent}>
          {month && (limit === null ? "None" : money(limit))}
        </Figure>
        <Figure name="Days left">{month && count(month.days - month.days_passed, "day")}</Figure>
      </dl>
      {month && limit !== null && <Bar month={month} limit={limit} />}
    </Card>
  );
}

function Figure({ name, note, bad, children }: { name: string; note?: string; bad?: boolean; children: ReactNode }) {
  return (
    <div>
      <dt className="text-faint text-xs">{name}</dt>
      <dd className="min-h-7 font-semibold text-lg tabular">{children}</dd>
      <dd className={cx("min-h-4 text-xs", bad ? "text-bad" : "text-muted")}>{note}</dd>
    </div>
  );
}

function Bar({ month: { spent_usd, projected_usd }, limit }: { month: MonthSpending; limit: number }) {
  const whole = Math.max(limit, projected_usd, spent_usd) || 1;
  const at = (value: number): string => `${(value / whole) * 100}%`;
  return (
    <div className="px-4 pb-4" aria-hidden>
      <div className="relative h-2">
        <div className="absolute inset-0 overflow-hidden rounded-full bg-press">
          <div className="absolute inset-y-0 left-0 bg-line-strong" style={{ width: at(projected_usd) }} />
          <div
            className={cx("absolute inset-y-0 left-0", spent_usd >= limit ? "bg-bad" : "bg-accent")}
            style={{ width: at(spent_usd) }}
          />
        </div>
        <div className="absolute -inset-y-1 w-0.5 -translate-x-full rounded-full bg-ink" style={{ left: at(limit) }} />
      </div>
    </div>
  );
}
