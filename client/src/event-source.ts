// The browser's EventSource over `watchEvents`: it sends the token, exists in Node, and takes no connection from a page.

import type { Connection } from "./connection.js";
import { type EventOptions, watchEvents } from "./events.js";

type Handler = ((event: Event) => void) | null;

/** Events `open`, `error`, and those of `ForgeEvent` by their names, which are MessageEvents whose `data` is JSON text. */
export class ForgeEventSource extends EventTarget {
  static readonly CONNECTING = 0;
  static readonly OPEN = 1;
  static readonly CLOSED = 2;
  readonly url: string;
  readyState = ForgeEventSource.CONNECTING;
  onopen: Handler = null;
  onerror: Handler = null;
  readonly #end = new AbortController();

  constructor(connection: Connection, options: Omit<EventOptions, "onOpen" | "onReconnect">) {
    super();
    this.url = connection.url("GET /api/events").href;
    options.signal?.addEventListener("abort", () => this.close(), { once: true });
    if (options.signal?.aborted) this.close();
    else void this.#run(connection, options);
  }

  close(): void {
    this.readyState = ForgeEventSource.CLOSED;
    this.#end.abort();
  }

  async #run(connection: Connection, options: EventOptions): Promise<void> {
    const own: EventOptions = {
      ...options,
      signal: this.#end.signal,
      onOpen: () => this.#report(ForgeEventSource.OPEN, "open"),
      onReconnect: () => this.#report(ForgeEventSource.CONNECTING, "error"),
    };
    try {
      for await (const { id, event, data } of watchEvents(connection, own)) {
        const message = { data: JSON.stringify(data), lastEventId: String(id), origin: connection.base };
        this.dispatchEvent(new MessageEvent(event, message));
      }
    } catch {
      this.#report(ForgeEventSource.CLOSED, "error");
    }
  }

  #report(state: number, word: "open" | "error"): void {
    if (this.readyState === ForgeEventSource.CLOSED) return;
    this.readyState = state;
    const event = new Event(word);
    this.dispatchEvent(event);
    (word === "open" ? this.onopen : this.onerror)?.(event);
  }
}
