// @vitest-environment happy-dom

import type { ForgeEvent } from "@forge/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { forge } from "../api/forge";
import { follow } from "./feed";
import { tasksChannel } from "./tasks";

/** What the server sends, when the test says so. */
function server() {
  let send: (event: ForgeEvent) => void = () => {};
  let open: (after: number) => void = () => {};
  vi.spyOn(forge, "watchEvents").mockImplementation(async function* (options) {
    open = (after) => {
      options?.onGap?.();
      options?.onOpen?.(after);
    };
    const events: ForgeEvent[] = [];
    let wake = (): void => {};
    send = (event) => {
      events.push(event);
      wake();
    };
    while (!options?.signal?.aborted) {
      yield* events.splice(0);
      await new Promise<void>((resolve) => (wake = resolve));
    }
  });
  const answers: ((seq: number, tasks: Record<string, object>) => void)[] = [];
  vi.spyOn(forge, "request").mockImplementation(
    () =>
      new Promise((resolve) => {
        answers.push((seq, value) =>
          resolve({ frames: [{ seq, JsonPatch: [{ op: "replace", path: "/tasks", value }] }] } as never),
        );
      }),
  );
  const patch = (id: number, task: string, value?: object): ForgeEvent =>
    ({
      id,
      event: "json_patch",
      data: [{ op: value ? "replace" : "remove", path: `/tasks/${task}`, value }],
    }) as ForgeEvent;
  return {
    answers,
    open: (after: number) => open(after),
    send: (...given: Parameters<typeof patch>) => send(patch(...given)),
  };
}

const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));
const end = { now: new AbortController() };
beforeEach(() => {
  end.now = new AbortController();
});
afterEach(() => {
  end.now.abort();
  vi.restoreAllMocks();
});

it("events that come before the snapshot are part of it or applied after it; other projects are left out", async () => {
  const { answers, open, send } = server();
  void follow(end.now.signal);
  const channel = tasksChannel("p");
  const leave = channel.subscribe(() => {});
  open(5);
  send(6, "a", { project_id: "p", title: "old" });
  send(8, "b", { project_id: "p", title: "new" });
  send(9, "x", { project_id: "other", title: "not here" });
  await settle();
  answers[0]?.(7, { a: { project_id: "p", title: "whole" }, c: { project_id: "p", title: "gone soon" } });
  await settle();
  send(10, "c");
  await settle();
  await vi.waitFor(() => expect(channel.read().phase).toBe("live"));
  await vi.waitFor(() =>
    expect([...channel.read().value].map(([id, { title }]) => [id, title])).toEqual([
      ["a", "whole"],
      ["b", "new"],
    ]),
  );
  leave();
});

it("a snapshot from before the first event is asked for again", async () => {
  const { answers, open } = server();
  void follow(end.now.signal);
  const channel = tasksChannel("q");
  const leave = channel.subscribe(() => {});
  await settle();
  answers[0]?.(3, { a: { project_id: "q", title: "stale" } });
  await settle();
  open(5);
  await settle();
  answers[1]?.(5, { b: { project_id: "q", title: "true" } });
  await vi.waitFor(() => expect([...channel.read().value.keys()]).toEqual(["b"]));
  leave();
});
