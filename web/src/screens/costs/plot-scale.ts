// The arithmetic of plots: which lines an axis has, which days it names, and which groups are shown by name.

/** Round values from 0 to at least `most`, about `wanted` of them. */
export function ticks(most: number, wanted = 4): number[] {
  if (!(most > 0)) return [0, 1];
  const rough = most / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  const size = Math.ceil(most / step - 1e-9);
  // Made by multiplication: sums of decimal fractions drift.
  return Array.from({ length: size + 1 }, (_, index) => Number((index * step).toPrecision(12)));
}

/** Those lines of an axis that have names of their own; only its ends where some would be called the same. */
export function namedTicks(most: number, format: (value: number) => string): number[] {
  const all = ticks(most);
  return new Set(all.map(format)).size === all.length ? all : [0, all.at(-1) ?? 1];
}

/** Every how many-th of `size` columns has its name below it, where each name needs `need` and `width` is there. */
export function labelEvery(size: number, width: number, need: number): number {
  return Math.max(1, Math.ceil((size * need) / Math.max(width, 1)));
}

/** The days of UTC from `from` to `to`, both included. */
export function daysBetween(from: string, to: string): string[] {
  const days: string[] = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += 86_400_000) {
    days.push(new Date(at).toISOString().slice(0, 10));
  }
  return days;
}

export interface Series {
  key: string;
  title: string;
  /** One for each column. */
  values: number[];
  total: number;
}

export const OTHER = "\0other";

/** The largest `most` by their sum; the rest together as one, last. */
export function gather(series: readonly Series[], most: number): Series[] {
  const sorted = series.toSorted((a, b) => b.total - a.total);
  const rest = sorted.slice(most);
  if (rest.length <= 1) return sorted;
  const values = rest[0]?.values.map((_, at) => rest.reduce((sum, each) => sum + (each.values[at] ?? 0), 0)) ?? [];
  const total = rest.reduce((sum, each) => sum + each.total, 0);
  return [...sorted.slice(0, most), { key: OTHER, title: `${rest.length} others`, values, total }];
}
