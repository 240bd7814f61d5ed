// One server: where it is, who we are, and how a route is called.
// Invariant: a token travels only in the Authorization header; no call waits longer than the time limit.

import { ForgeError } from "./error.js";
import type { Routes } from "./types.js";

const TIME_LIMIT_MS = 120_000;

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
    const response = await this.#send(route, given);
    const text = await response.text();
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

  #send(route: string, given: object): Promise<Response> {
    const parts: Parts = given;
    const headers: Record<string, string> = { accept: "application/json, */*;q=0.5", ...this.headers };
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
