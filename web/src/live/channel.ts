// One stream of the server as something that React can read.
// Invariants: a stream is open only while somebody looks, and a little longer, so that going back and forth does not
// open it again; readers are called at most once a frame, however fast the server sends; `read` gives the same object until
// something has changed.

import type { FollowOptions } from "@forge/client";
import { useSyncExternalStore } from "react";
import { noteWord } from "./connection";

export type Phase = "connecting" | "live" | "reconnecting" | "ended" | "failed";

export interface Snapshot<T> {
  phase: Phase;
  value: T;
  error?: unknown;
  /** Opens a stream that failed once more. */
  retry?: () => void;
}

/** Follows a stream to its end; calls `changed` after each thing that readers should see. */
export type Feed = (options: FollowOptions, changed: () => void) => Promise<void>;

const LINGER_MS = 10_000;

export class Channel<T> {
  readonly #feed: Feed;
  readonly #take: () => T;
  readonly #readers = new Set<() => void>();
  #snapshot: Snapshot<T>;
  #phase: Phase = "connecting";
  #error: unknown;
  #end: AbortController | undefined;
  #linger: ReturnType<typeof setTimeout> | undefined;
  #scheduled = false;

  /** `take` makes what readers see of what `feed` has gathered; it is called once a frame at most. */
  constructor(feed: Feed, take: () => T) {
    this.#feed = feed;
    this.#take = take;
    this.#snapshot = { phase: "connecting", value: take() };
  }

  get isWatched(): boolean {
    return this.#readers.size > 0;
  }

  readonly read = (): Snapshot<T> => this.#snapshot;

  readonly subscribe = (reader: () => void): (() => void) => {
    this.#readers.add(reader);
    clearTimeout(this.#linger);
    if (this.#end === undefined) void this.#run();
    return () => {
      this.#readers.delete(reader);
      if (this.#readers.size === 0) this.#linger = setTimeout(() => this.#close(), LINGER_MS);
    };
  };

  readonly #retry = (): void => {
    if (this.#end === undefined) void this.#run();
  };

  #close(): void {
    // A stream that came to its end has everything; there is nothing to open again.
    if (this.#phase === "ended") return;
    this.#end?.abort();
    this.#end = undefined;
  }

  async #run(): Promise<void> {
    const end = new AbortController();
    this.#end = end;
    if (this.#phase === "failed") this.#turn("connecting");
    const onReconnect = (): void => this.#turn("reconnecting");
    try {
      await this.#feed({ signal: end.signal, onReconnect }, () => {
        noteWord();
        this.#phase = "live";
        this.#schedule();
      });
      if (!end.signal.aborted) this.#turn("ended");
    } catch (error) {
      this.#error = error;
      // Whoever comes next, or asks for it, has it opened again.
      if (this.#end === end) this.#end = undefined;
      this.#turn("failed");
    }
  }

  #turn(phase: Phase): void {
    this.#phase = phase;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    // Hidden pages get no frames, and should still count what waits for an answer.
    if (document.hidden) setTimeout(() => this.#publish(), 250);
    else requestAnimationFrame(() => this.#publish());
  }

  #publish(): void {
    this.#scheduled = false;
    const failure = this.#phase === "failed" ? { error: this.#error, retry: this.#retry } : {};
    this.#snapshot = { phase: this.#phase, value: this.#take(), ...failure };
    for (const reader of this.#readers) reader();
  }
}

export function useChannel<T>(channel: Channel<T>): Snapshot<T> {
  return useSyncExternalStore(channel.subscribe, channel.read);
}

/** One channel per key; the ones that were used least recently and that nobody watches are forgotten beyond `limit`. */
export function channels<T>(make: (key: string) => Channel<T>, limit = 12): (key: string) => Channel<T> {
  const kept = new Map<string, Channel<T>>();
  return (key) => {
    const channel = kept.get(key) ?? make(key);
    kept.delete(key);
    kept.set(key, channel);
    for (const [old, candidate] of kept) {
      if (kept.size <= limit) break;
      if (!candidate.isWatched) kept.delete(old);
    }
    return channel;
  };
}
