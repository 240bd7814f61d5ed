const UNITS = ["B", "kB", "MB", "GB", "TB"];

/** `512 B`, `20 kB`, `1.4 GB`. */
export function bytes(value: number): string {
  let size = value;
  let unit = 0;
  while (size >= 1000 && unit < UNITS.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${unit === 0 || size >= 10 ? Math.round(size) : size.toFixed(1)} ${UNITS[unit]}`;
}
