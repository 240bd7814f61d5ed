// One server: where it is, who we are, and how a route is called.
// Invariant: a token travels only in the Authorization header; no call waits longer than the time limit. A call that makes
// something carries a key, and the same one when it is made again because its answer was lost, so the server does it once.

import { ForgeError } from "./error.js";
import type { Routes } from "./types.js";

const TIME_LIMIT_MS = 120_000;
/** Pauses before a call whose answer was lost is made again. */
const LOST_PAUSES_MS = [200, 1000];
/** How many calls without an answer are remembered, and for how long: whoever repeats one later means it again. */
const LOST_MAX = 100;
const LOST_MS = 120_000;
/** The server has not decided: an equal call is under way, or the server is about to stop. */
const UNDECIDED: ReadonlySet<number> = new Set([409, 503]);

/** The calls that the server carries out once per key. */
const ONCE: ReadonlySet<string> = new Set<keyof Routes>([
  "POST /api/tasks",
  "POST /api/tasks/create-and-start",
  "POST /api/projects/{project_id}/tasks",
  "POST /api/projects/{project_id}/tasks/create-and-start",
  "POST /api/tasks/{task_id}/attempts/start",
  "POST /api/task-attempts",
  "POST /api/task-attempts/{attempt_id}/follow-up",
  "POST /api/task-attempts/{attempt_id}/merge",
]);

/** Anything that speaks like the browser's WebSocket. */
export type SocketMaker = new (url: string) => WebSocket;

export interface Options {
  /** Used in place of the platform's `fetch`. */
  fetch?: typeof globalThis.fetch;
  /**
   * Used for streams. Without it Node uses a client of this package, which sends the token, and every other platform its
   * own `WebSocket`, which cannot: there the cookie of the login link counts.
   */
  WebSocket?: SocketMaker;
  /** How long a call may take; streams have no such limit. */
  timeoutMs?: number;
}

/** What a route takes: the parts of its path, its query, its body. */
export type Given<R extends keyof Routes> = Omit<Routes[R], "answer">;

interface Parts {
  path?: Record<string, string>;
  query?: Record<string, string | number | boolean | undefined>;
  body?: unknown;
}

export class Connection {
  readonly base: string;
  readonly fetch: typeof globalThis.fetch;
  readonly WebSocket: SocketMaker | undefined;
  readonly #token: string | undefined;
  readonly #timeoutMs: number;
  /** The keys of calls whose answers were lost. Whoever makes such a call again means the same thing. */
  readonly #lost = new Map<string, { key: string; until: number }>();

  constructor(baseUrl: string, token: string | undefined, options: Options) {
    this.base = baseUrl.replace(/\/+$/, "");
    this.fetch = options.fetch ?? globalThis.fetch.bind(globalThis);
    this.WebSocket = options.WebSocket;
    this.#token = token;
    this.#timeoutMs = options.timeoutMs ?? TIME_LIMIT_MS;
  }

  get headers(): Record<string, string> {
    return this.#token ? { authorization: `Bearer ${this.#token}` } : {};
  }

  /** The address of a route such as `GET /api/tasks/{task_id}`. */
  url(route: string, parts: Parts = {}): URL {
    const path = route.slice(route.indexOf(" ") + 1);
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parts.path?.[name] ?? ""));
    const url = new URL(this.base + filled);
    for (const [name, value] of Object.entries(parts.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    return url;
  }

  /** The same for a WebSocket. */
  socketUrl(route: string, parts: Parts = {}): string {
    return this.url(route, parts).href.replace(/^http/, "ws");
  }

  /** What the envelope holds, or the bare JSON of a route without one. */
  async ask<R extends keyof Routes>(route: R, given: Given<R>): Promise<Routes[R]["answer"]> {
    const [response, text] = await (ONCE.has(route) ? this.#exchangeOnce(route, given) : this.#exchange(route, given));
    const body = parse(text);
    if (!response.ok) throw refusal(response, body ?? text);
    if (body === undefined) {
      throw new ForgeError(response.status, `${route}: the answer is not JSON; is ${this.base} a Forge server?`, text);
    }
    if (!isEnvelope(body)) return body as Routes[R]["answer"];
    if (!body.success) throw refusal(response, body);
    return body.data as Routes[R]["answer"];
  }

  /** The bytes of a route that gives a file. */
  async load<R extends keyof Routes>(route: R, given: Given<R>): Promise<Blob> {
    const response = await this.#send(route, given);
    if (response.ok) return await response.blob();
    const text = await response.text();
    throw refusal(response, parse(text) ?? text);
  }

  async #exchange(route: string, given: object, key?: string): Promise<[Response, string]> {
    const response = await this.#send(route, given, key);
    return [response, await response.text()];
  }

  async #exchangeOnce(route: string, given: object): Promise<[Response, string]> {
    const name = `${route} ${JSON.stringify(given)}`;
    const known = this.#lost.get(name);
    const key = known !== undefined && Date.now() < known.until ? known.key : newKey();
    const keep = () => {
      if (this.#lost.size >= LOST_MAX) this.#lost.clear();
      this.#lost.set(name, { key, until: Date.now() + LOST_MS });
    };
    for (let tries = 0; ; tries++) {
      try {
        const answer = await this.#exchange(route, given, key);
        if (known !== undefined && UNDECIDED.has(answer[0].status)) keep();
        else this.#lost.delete(name);
        return answer;
      } catch (error) {
        keep();
        const pause = LOST_PAUSES_MS[tries];
        const isOver = error instanceof DOMException && error.name === "TimeoutError";
        if (pause === undefined || isOver) throw error;
        await new Promise((go) => setTimeout(go, pause));
      }
    }
  }

  #send(route: string, given: object, key?: string): Promise<Response> {
    const parts: Parts = given;
    const headers: Record<string, string> = { accept: "application/json, */*;q=0.5", ...this.headers };
    if (key !== undefined) headers["idempotency-key"] = key;
    const request: RequestInit = { method: route.slice(0, route.indexOf(" ")), headers };
    if (parts.body instanceof FormData) {
      request.body = parts.body;
    } else if (parts.body !== undefined) {
      headers["content-type"] = "application/json";
      request.body = JSON.stringify(parts.body);
    }
    request.signal = AbortSignal.timeout(this.#timeoutMs);
    return this.fetch(this.url(route, parts), request);
  }
}

interface Envelope {
  success: boolean;
  data: unknown;
  message: string | null;
}

function isEnvelope(body: unknown): body is Envelope {
  return typeof body === "object" && body !== null && "success" in body && "data" in body && "error_data" in body;
}

/** Not `randomUUID`, which a page has only on this machine or over TLS. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refusal(response: Response, body: unknown): ForgeError {
  const message = isEnvelope(body) && body.message ? body.message : `[${response.status}] ${response.statusText}`;
  return new ForgeError(response.status, message, body);
}
