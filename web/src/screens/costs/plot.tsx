// Stacked bars over days, drawn here. The plot is a slider over its columns: pointer and arrow keys choose a day, whose
// values are shown and read out. All values are also in a table, which is shown in its place or only read out.

import { type KeyboardEvent, type PointerEvent, useLayoutEffect, useRef, useState } from "react";
import { cx } from "../../ui/class";
import { Table, Td, Th } from "../../ui/table";
import { labelEvery, namedTicks, OTHER, type Series } from "./plot-scale";
import { PlotTip } from "./plot-tip";

/** The scale of groups: at most six, and the others. */
const FILLS = ["fill-info", "fill-accent", "fill-good", "fill-review", "fill-warn", "fill-bad"];
const GROUNDS = ["bg-info", "bg-accent", "bg-good", "bg-review", "bg-warn", "bg-bad"];
export const MOST_SERIES = FILLS.length;

/** One more than the scale has colours for shares the colour of the others. */
const groundOf = (at: number, key: string): string => (key === OTHER ? undefined : GROUNDS[at]) ?? "bg-faint";
const fillOf = (at: number, key: string): string => (key === OTHER ? undefined : FILLS[at]) ?? "fill-faint";

interface Props {
  label: string;
  /** A day for each column. */
  days: readonly string[];
  series: readonly Series[];
  /** A value that should not be passed. */
  limit?: { value: number; title: string };
  format: (value: number) => string;
  asTable?: boolean;
}

const HEIGHT = 240;
const LEFT = 52;
const BELOW = 24;
const ABOVE = 20;
const LABEL_PX = 56;

export function Plot(props: Props) {
  if (props.asTable) return <PlotTable {...props} />;
  return (
    <>
      <PlotBars {...props} />
      <div className="sr-only">
        <PlotTable {...props} />
      </div>
    </>
  );
}

function useWidth(): [React.RefObject<HTMLDivElement | null>, number] {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    if (box.current === null) return;
    setWidth(box.current.clientWidth);
    const watch = new ResizeObserver(([entry]) => entry && setWidth(Math.floor(entry.contentRect.width)));
    watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  return [box, width];
}

const dayName = (day: string, long = false): string =>
  new Date(day).toLocaleDateString(undefined, {
    timeZone: "UTC",
    day: "numeric",
    month: "short",
    ...(long && { weekday: "short" }),
  });

const totalAt = (series: readonly Series[], at: number): number =>
  series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0);

function PlotBars({ label, days, series, limit, format }: Props) {
  const [box, width] = useWidth();
  const [at, setAt] = useState<number>();
  const most = Math.max(limit?.value ?? 0, ...days.map((_, day) => totalAt(series, day)));
  const lines = namedTicks(most, format);
  const top = lines.at(-1) ?? 1;
  const axis = (value: number): string =>
    lines.every(Number.isInteger) ? format(value).replace(/\.0+$/, "") : format(value);
  const room = { width: Math.max(width - LEFT, 1), height: HEIGHT - ABOVE - BELOW };
  const step = room.width / Math.max(days.length, 1);
  const bar = Math.max(1, Math.min(step * 0.72, 40));
  const x = (day: number): number => LEFT + step * day + (step - bar) / 2;
  const y = (value: number): number => ABOVE + room.height * (1 - value / top);
  const every = labelEvery(days.length, room.width, LABEL_PX);
  const last = days.length - 1;

  const point = (event: PointerEvent): void => {
    const from = event.currentTarget.getBoundingClientRect().left + LEFT;
    setAt(Math.max(0, Math.min(last, Math.floor((event.clientX - from) / step))));
  };
  const press = (event: KeyboardEvent): void => {
    const now = at ?? last;
    const next = { ArrowLeft: now - 1, ArrowDown: now - 1, ArrowRight: now + 1, ArrowUp: now + 1, Home: 0, End: last }[
      event.key
    ];
    if (next === undefined) return;
    event.preventDefault();
    setAt(Math.max(0, Math.min(last, next)));
  };
  const chosen = at ?? last;
  const shown = days[chosen];
  return (
    <div
      ref={box}
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-orientation="horizontal"
      aria-valuemin={0}
      aria-valuemax={Math.max(last, 0)}
      aria-valuenow={Math.max(chosen, 0)}
      aria-valuetext={shown && `${dayName(shown, true)}: ${format(totalAt(series, chosen))}`}
      onPointerMove={point}
      onPointerDown={point}
      onPointerLeave={() => setAt(undefined)}
      onFocus={(event) => event.currentTarget.matches(":focus-visible") && setAt(at ?? last)}
      onBlur={() => setAt(undefined)}
      onKeyDown={press}
      className="relative touch-pan-y rounded-sm"
      style={{ height: HEIGHT }}
    >
      {width > 0 && (
        <svg width={width} height={HEIGHT} aria-hidden className="block text-xs">
          {lines.map((value) => (
            <g key={value}>
              <line x1={LEFT} x2={width} y1={y(value)} y2={y(value)} className="stroke-line" />
              <text x={LEFT - 8} y={y(value)} dy="0.32em" textAnchor="end" className="fill-faint tabular">
                {axis(value)}
              </text>
            </g>
          ))}
          {at !== undefined && (
            <rect x={LEFT + step * at} width={step} y={ABOVE} height={room.height} className="fill-hover" />
          )}
          {days.map((day, column) => (
            <g key={day}>
              <Stack series={series} column={column} x={x(column)} width={bar} y={y} />
              {(last - column) % every === 0 && (
                <text
                  x={Math.min(x(column) + bar / 2, width - 20)}
                  y={HEIGHT - 6}
                  textAnchor="middle"
                  className={at === column ? "fill-ink" : "fill-faint"}
                >
                  {dayName(day)}
                </text>
              )}
            </g>
          ))}
          {limit && (
            <g>
              <line
                x1={LEFT}
                x2={width}
                y1={y(limit.value)}
                y2={y(limit.value)}
                strokeDasharray="4 4"
                className="stroke-bad"
              />
              <text x={width - 4} y={y(limit.value) - 5} textAnchor="end" className="fill-bad">
                {limit.title}
              </text>
            </g>
          )}
        </svg>
      )}
      {at !== undefined && days[at] && (
        <PlotTip
          title={dayName(days[at], true)}
          total={format(totalAt(series, at))}
          rows={series
            .map(({ key, title, values }, order) => ({ title, value: values[at] ?? 0, ground: groundOf(order, key) }))
            .filter(({ value }) => value > 0)
            .map((row) => ({ ...row, value: format(row.value) }))}
          x={x(at) + bar / 2}
          width={width}
        />
      )}
    </div>
  );
}

interface StackProps {
  series: readonly Series[];
  column: number;
  x: number;
  width: number;
  y: (value: number) => number;
}

function Stack({ series, column, x, width, y }: StackProps) {
  let below = 0;
  return series.map(({ key, values }, order) => {
    const value = values[column] ?? 0;
    if (value <= 0) return null;
    const [from, to] = [y(below), y(below + value)];
    below += value;
    // A line of the ground between two parts, so that colour is not all that parts them.
    const height = Math.max(0.5, from - to - (from - to > 3 ? 1 : 0));
    return <rect key={key} x={x} y={to} width={width} height={height} rx={1} className={fillOf(order, key)} />;
  });
}

function PlotTable({ label, days, series, format }: Props) {
  // The newest first: it is what one looks for.
  const rows = days.map((day, at) => ({ day, at })).reverse();
  return (
    <Table label={label} sticky className="max-h-80">
      <thead>
        <tr>
          <Th>Day</Th>
          {series.map(({ key, title }) => (
            <Th key={key} number>
              {title}
            </Th>
          ))}
          <Th number>Total</Th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ day, at }) => (
          <tr key={day}>
            <Td className="whitespace-nowrap">{day}</Td>
            {series.map(({ key, values }) => (
              <Td key={key} number className={cx(!values[at] && "text-faint")}>
                {format(values[at] ?? 0)}
              </Td>
            ))}
            <Td number className="font-medium">
              {format(totalAt(series, at))}
            </Td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

export function Legend({ series, format }: Pick<Props, "series" | "format">) {
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-1 text-sm">
      {series.map(({ key, title, total }, order) => (
        <li key={key} className="flex min-w-0 items-center gap-1.5">
          <span aria-hidden className={cx("size-2.5 shrink-0 rounded-sm", groundOf(order, key))} />
          <span className="truncate">{title}</span>
          <span className="text-faint tabular">{format(total)}</span>
        </li>
      ))}
    </ul>
  );
}
