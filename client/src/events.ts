// Everything that happens. In Node it comes as server-sent events over `fetch`: the token can be sent, and Node 20 needs
// nothing more. Elsewhere it comes over a WebSocket: browsers hold six connections to a host, and a stream over HTTP is one.
// Invariant: every event is delivered once, in order: after a cut the stream is asked for again after the last id.

import type { Connection } from "./connection.js";
import { ForgeError } from "./error.js";
import { type FollowOptions, follow, hasNodeSocket, Pauses } from "./follow.js";
import type { EventFrame, HelloFrame, Sockets } from "./types.js";

/** The server sends a comment every 15 s. */
const SILENCE_LIMIT_MS = 45_000;
const EVENT_LIMIT = 64 * 1024 * 1024;

type Delivered<F> = F extends EventFrame ? { id: number; event: F["event"]; data: F["data"] } : never;

/**
 * A change of something, or a question of an agent. `id` is its number in the server's log. `project`, `project_removed` and
 * `attempt` come over a WebSocket only; `card`, `branch`, `conflicts` and `beads` come there for `view: "board"`.
 */
export type ForgeEvent = Delivered<Exclude<EventFrame, HelloFrame>>;

export interface EventOptions extends FollowOptions {
  /** Only what came after this event; without it, everything since the server started, and over a WebSocket all from now on. */
  after?: number;
  /** Over a WebSocket: what a board shows. Tasks have no descriptions, chats are left out, cards and branches are added. */
  view?: "board";
  /** Called each time a connection is open; over a WebSocket with the number after which it continues. */
  onOpen?: (after?: number) => void;
  /** Called when a WebSocket continues after events that are no longer available: what is shown has to be read again. */
  onGap?: () => void;
}

export function watchEvents(connection: Connection, options: EventOptions): AsyncGenerator<ForgeEvent, void> {
  return hasNodeSocket(connection) ? overHttp(connection, options) : overSocket(connection, options);
}

async function* overSocket(connection: Connection, options: EventOptions): AsyncGenerator<ForgeEvent, void> {
  const route: keyof Sockets = "GET /api/events/ws";
  let last = options.after;
  const source = { connection, route, query: { view: options.view }, resume: "number", after: last } as const;
  for await (const frame of follow<EventFrame>(source, options)) {
    if (frame === undefined) continue;
    const { seq: id, event, data } = frame;
    if (event === "hello") {
      if (last !== undefined && last !== id) options.onGap?.();
      options.onOpen?.(id);
    } else {
      yield { id, event, data } as ForgeEvent;
    }
    last = id;
  }
}

async function* overHttp(connection: Connection, options: EventOptions): AsyncGenerator<ForgeEvent, void> {
  const signal = options.signal ?? new AbortController().signal;
  const pauses = new Pauses();
  let last = options.after;
  while (!signal.aborted) {
    let cause: unknown = new Error("the server ended the stream");
    try {
      for await (const message of read(connection, last, signal, options.onOpen)) {
        pauses.reset();
        last = Number(message.id);
        yield { id: last, event: message.event, data: JSON.parse(message.data) } as ForgeEvent;
      }
    } catch (error) {
      if (error instanceof ForgeError && error.isFinal) throw error;
      cause = error;
    }
    if (signal.aborted) return;
    options.onReconnect?.(cause);
    await pauses.wait(signal);
  }
}

async function* read(connection: Connection, last: number | undefined, signal: AbortSignal, onOpen?: () => void) {
  const silence = new AbortController();
  const giveUp = (): void => silence.abort(new Error("the server is silent"));
  let timer = setTimeout(giveUp, SILENCE_LIMIT_MS);
  try {
    const headers: Record<string, string> = { accept: "text/event-stream", ...connection.headers };
    if (last !== undefined) headers["last-event-id"] = String(last);
    const either = AbortSignal.any([signal, silence.signal]);
    const response = await connection.fetch(connection.url("GET /api/events"), { headers, signal: either });
    if (!response.ok || response.body === null) {
      throw new ForgeError(response.status, `[${response.status}] ${response.statusText}`, await response.text());
    }
    onOpen?.();
    const parser = new EventParser();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    try {
      for (;;) {
        const chunk = await reader.read();
        if (chunk.done) return;
        clearTimeout(timer);
        timer = setTimeout(giveUp, SILENCE_LIMIT_MS);
        yield* parser.feed(chunk.value);
      }
    } finally {
      await reader.cancel().catch(() => {});
    }
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}

export interface Message {
  id: string;
  event: string;
  data: string;
}

/** Text in, whole events out. */
export class EventParser {
  #rest = "";
  #id = "";

  *feed(text: string): Generator<Message, void> {
    this.#rest += text;
    if (this.#rest.length > EVENT_LIMIT) throw new Error(`an event is larger than ${EVENT_LIMIT} characters`);
    // A carriage return at the very end may be the first half of a line's end.
    const whole = this.#rest.endsWith("\r") ? this.#rest.slice(0, -1) : this.#rest;
    const blocks = whole.split(/\r\n\r\n|\n\n|\r\r/);
    const open = blocks.pop() ?? "";
    this.#rest = open + this.#rest.slice(whole.length);
    for (const block of blocks) {
      const message = this.#read(block);
      if (message) yield message;
    }
  }

  #read(block: string): Message | undefined {
    let event = "message";
    const data: string[] = [];
    for (const line of block.split(/\r\n|\n|\r/)) {
      const colon = line.indexOf(":");
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (field === "event") event = value;
      else if (field === "data") data.push(value);
      else if (field === "id") this.#id = value;
    }
    return data.length ? { id: this.#id, event, data: data.join("\n") } : undefined;
  }
}
