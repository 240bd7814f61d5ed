// Numbers and times as people read them.

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `42s`, `3m 07s`, `2h 05m`, `3d 4h`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (value: number): string => String(value).padStart(2, "0");
  if (seconds < MINUTE) return `${seconds}s`;
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)}m ${two(seconds % MINUTE)}s`;
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)}h ${two(Math.floor((seconds % HOUR) / MINUTE))}m`;
  return `${Math.floor(seconds / DAY)}d ${Math.floor((seconds % DAY) / HOUR)}h`;
}

/** `just now`, `5m ago`, `3h ago`, `2d ago`, then the date. */
export function ago(time: string, now = Date.now()): string {
  const seconds = Math.floor((now - Date.parse(time)) / 1000);
  if (seconds < 45) return "just now";
  if (seconds < HOUR) return `${Math.max(1, Math.round(seconds / MINUTE))}m ago`;
  if (seconds < DAY) return `${Math.round(seconds / HOUR)}h ago`;
  if (seconds < 14 * DAY) return `${Math.round(seconds / DAY)}d ago`;
  return new Date(time).toLocaleDateString(undefined, { year: "numeric", month: "short", day: "numeric" });
}

/** `14:05`, as it is written here. */
export function timeOfDay(time: string): string {
  return new Date(time).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
}

/** `$0.42`, `<$0.01`, `$1,204`. */
export function money(usd: number): string {
  if (usd > 0 && usd < 0.01) return "<$0.01";
  const digits = usd >= 1000 ? 0 : 2;
  return `$${usd.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

/** `950`, `12.3k`, `4.1M`. */
export function short(value: number): string {
  if (value < 1000) return String(value);
  if (value < 1_000_000) return `${(value / 1000).toFixed(value < 10_000 ? 1 : 0)}k`;
  return `${(value / 1_000_000).toFixed(value < 10_000_000 ? 1 : 0)}M`;
}

/** `1 file`, `3 files`. */
export function count(value: number, noun: string, plural = `${noun}s`): string {
  return `${value.toLocaleString("en-US")} ${value === 1 ? noun : plural}`;
}

/** `CLAUDE_CODE` is `Claude Code`. */
export function agentName(executor: string): string {
  const known: Record<string, string> = { ACP: "ACP", GEMINI: "Gemini CLI", COPILOT: "Copilot", OPENCODE: "opencode" };
  const title = (word: string): string => word.charAt(0) + word.slice(1).toLowerCase();
  return known[executor] ?? executor.split("_").map(title).join(" ");
}
