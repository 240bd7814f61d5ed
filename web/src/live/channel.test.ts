// @vitest-environment happy-dom

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Channel, channels } from "./channel";

/** A stream that sends what the test says. */
function scripted() {
  const log: string[] = [];
  let say: (word: string) => void = () => {};
  let end: () => void = () => {};
  const words: string[] = [];
  const channel = new Channel<readonly string[]>(
    (options, changed) =>
      new Promise((resolve) => {
        log.push("opened");
        say = (word) => {
          words.push(word);
          changed();
        };
        end = resolve;
        options.signal?.addEventListener("abort", () => {
          log.push("closed");
          resolve();
        });
      }),
    () => [...words],
  );
  return { channel, log, say: (word: string) => say(word), end: () => end() };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "requestAnimationFrame"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("a channel", () => {
  it("calls its readers once a frame, however much was sent", () => {
    const { channel, say } = scripted();
    const reader = vi.fn();
    channel.subscribe(reader);
    for (let at = 0; at < 1000; at++) say(String(at));
    expect(reader).not.toHaveBeenCalled();
    vi.advanceTimersByTime(50);
    expect(reader).toHaveBeenCalledTimes(1);
    expect(channel.read().value).toHaveLength(1000);
    expect(channel.read().phase).toBe("live");
  });

  it("gives the same snapshot until something changed", () => {
    const { channel, say } = scripted();
    channel.subscribe(() => {});
    say("a");
    vi.advanceTimersByTime(50);
    const first = channel.read();
    expect(channel.read()).toBe(first);
    say("b");
    vi.advanceTimersByTime(50);
    expect(channel.read()).not.toBe(first);
  });

  it("stays open for a reader that comes back soon, and closes when nobody does", () => {
    const { channel, log } = scripted();
    channel.subscribe(() => {})();
    vi.advanceTimersByTime(5_000);
    const leave = channel.subscribe(() => {});
    expect(log).toEqual(["opened"]);
    leave();
    vi.advanceTimersByTime(20_000);
    expect(log).toEqual(["opened", "closed"]);
    channel.subscribe(() => {});
    expect(log).toEqual(["opened", "closed", "opened"]);
  });

  it("is not opened again when the stream has come to its end", async () => {
    const { channel, log, say, end } = scripted();
    const leave = channel.subscribe(() => {});
    say("all");
    end();
    await vi.advanceTimersByTimeAsync(50);
    expect(channel.read().phase).toBe("ended");
    leave();
    vi.advanceTimersByTime(60_000);
    channel.subscribe(() => {});
    expect(log).toEqual(["opened"]);
  });
});

describe("a channel that failed", () => {
  const failing = () => {
    let opened = 0;
    const feed = async (): Promise<void> => {
      opened += 1;
      if (opened < 3) throw new Error(`refused ${opened}`);
      await new Promise(() => {});
    };
    return { channel: new Channel(feed, () => 0), opened: () => opened };
  };

  it("is opened again by whoever asks for it, or comes back, however soon", async () => {
    const { channel, opened } = failing();
    const leave = channel.subscribe(() => {});
    await vi.advanceTimersByTimeAsync(50);
    expect(channel.read()).toMatchObject({ phase: "failed", error: new Error("refused 1") });
    channel.read().retry?.();
    await vi.advanceTimersByTimeAsync(50);
    expect(channel.read()).toMatchObject({ phase: "failed", error: new Error("refused 2") });
    leave();
    channel.subscribe(() => {});
    await vi.advanceTimersByTimeAsync(50);
    expect(opened()).toBe(3);
    expect(channel.read()).toEqual({ phase: "connecting", value: 0 });
  });

  it("is opened once, however often it is asked for", async () => {
    const { channel, opened } = failing();
    channel.subscribe(() => {});
    await vi.advanceTimersByTimeAsync(50);
    const { retry } = channel.read();
    retry?.();
    retry?.();
    expect(opened()).toBe(2);
  });
});

describe("channels by key", () => {
  it("forget only what nobody watches", () => {
    const get = channels<number>(
      () =>
        new Channel(
          () => new Promise(() => {}),
          () => 0,
        ),
      2,
    );
    const watched = get("a");
    watched.subscribe(() => {});
    const idle = get("b");
    get("c");
    get("d");
    expect(get("a")).toBe(watched);
    expect(get("b")).not.toBe(idle);
  });
});
