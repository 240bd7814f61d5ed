// A stream that outlives its connections.
// Invariant: what was handed out is not handed out again and nothing between is left out: a connection that is cut off is
// opened again after the last number that was handed out.

import type { Connection } from "./connection.js";
import { ForgeError } from "./error.js";
import { type Frames, readFrames } from "./frames.js";
import type { EndFrame, PatchFrame } from "./types.js";

const PAUSE_MS = 250;
const PAUSE_MAX_MS = 8_000;
const NORMAL_CLOSURE = 1000;

export interface FollowOptions {
  /** Ends the stream, without an error. */
  signal?: AbortSignal;
  /** Called when a connection was cut off and will be opened again. */
  onReconnect?: (cause: unknown) => void;
}

export interface Source {
  connection: Connection;
  route: string;
  path?: Record<string, string>;
  query?: Record<string, string | number | boolean | undefined>;
  /** `number`: continue after the last one. `restart`: the stream has no history and starts again. */
  resume: "number" | "restart";
  /** Where the first connection begins. */
  after?: number | undefined;
  /** How many of the last the first connection begins with, in the place of `after`. */
  tail?: number | undefined;
}

/** Undefined stands for "what came before is void": a stream without history starts again. */
export async function* follow<F extends { seq?: number } = PatchFrame>(
  source: Source,
  options: FollowOptions,
): AsyncGenerator<F | undefined, void> {
  const signal = options.signal ?? new AbortController().signal;
  const pauses = new Pauses();
  let after = source.tail === undefined ? source.after : undefined;
  for (let connections = 0; !signal.aborted; connections++) {
    let cause: unknown;
    if (connections > 0 && source.resume === "restart") yield undefined;
    const frames = connect(source, source.resume === "number" ? after : undefined, signal);
    try {
      for (;;) {
        const next = await frames.next();
        if (next.done) {
          if (next.value === NORMAL_CLOSURE) return;
          cause = new Error(`the connection was closed with ${next.value}`);
          break;
        }
        const frame = JSON.parse(next.value) as F | EndFrame;
        pauses.reset();
        if ("finished" in frame) return;
        after = frame.seq ?? after;
        yield frame;
      }
    } catch (error) {
      if (error instanceof ForgeError && error.isFinal) throw error;
      cause = error;
    } finally {
      // Also when the reader leaves in the middle: the connection must not stay behind.
      await frames.return(NORMAL_CLOSURE);
    }
    if (signal.aborted) return;
    options.onReconnect?.(cause);
    await pauses.wait(signal);
  }
}

async function* connect(source: Source, after: number | undefined, signal: AbortSignal): Frames {
  const { connection, route } = source;
  // What was handed out says where to continue; until then the last are still the ones that are wanted.
  const tail = after === undefined ? source.tail : undefined;
  const parts = { path: source.path ?? {}, query: { ...source.query, after, tail } };
  if (hasNodeSocket(connection)) {
    const { readNodeFrames } = await import("./node-socket.js");
    return yield* readNodeFrames(connection.url(route, parts), connection.headers, signal);
  }
  const make = connection.WebSocket ?? globalThis.WebSocket;
  return yield* readFrames(make, connection.socketUrl(route, parts), signal);
}

/** Whether this package's own socket is used. */
export function hasNodeSocket(connection: Connection): boolean {
  return connection.WebSocket === undefined && isNode();
}

function isNode(): boolean {
  return typeof process !== "undefined" && typeof process.versions?.node === "string";
}

/** Longer and longer, and never all clients at once. */
export class Pauses {
  #count = 0;

  reset(): void {
    this.#count = 0;
  }

  wait(signal: AbortSignal): Promise<void> {
    const most = Math.min(PAUSE_MAX_MS, PAUSE_MS * 2 ** Math.min(this.#count++, 10));
    const pause = most * (0.5 + Math.random() / 2);
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, pause);
      signal.addEventListener("abort", done);
      if (signal.aborted) done();
    });
  }
}
