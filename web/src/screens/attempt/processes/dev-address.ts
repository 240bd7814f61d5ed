// Where a dev server listens, as it says itself.

import type { Line } from "../../../live/raw-log";
import { plain } from "../ansi";

const ADDRESS = /https?:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])(?::\d+)?[^\s"'<>)\]]*/;
/** Servers say it when they start, sometimes after a long build. */
const LOOK_AT = 5_000;

/** The newest one counts: a server that starts again may take another port. */
export function devAddress(lines: readonly Line[]): string | undefined {
  for (let at = lines.length - 1; at >= Math.max(0, lines.length - LOOK_AT); at--) {
    const found = ADDRESS.exec(plain(lines[at]?.text ?? ""));
    // A browser cannot open the address that means all of them.
    if (found)
      return found[0]
        .replace("0.0.0.0", "localhost")
        .replace("[::]", "localhost")
        .replace(/[.,;]$/, "");
  }
  return undefined;
}
