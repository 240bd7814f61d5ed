// Streams send everything once, also when the server dies in the middle.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ForgeClient, type ForgeEvent, type FramePage, type RawLogLine } from "@forge/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Forge } from "../../scripts/lib/forge.mjs";
import { Borrowed, ended, failure, makeWorld, start, until, type World } from "./fixture.js";

const ABSENT = "00000000-0000-4000-8000-000000000000";
let world: World;

beforeAll(async () => {
  world = await makeWorld();
});

afterAll(() => world.forge.close());

/** Says `begun`, goes on when `goOn` is called, and then says `count` lines. */
async function startInTwoHalves(count: number) {
  const gate = join(world.forge.dir, `gate-${Math.random()}`);
  const wait = `run while [ ! -e ${gate} ]; do sleep 0.02; done`;
  const lines = (word: string) => Array.from({ length: count }, (_, n) => `say ${word} ${n}`);
  const script = [...lines("first"), wait, ...lines("second")].join("\n");
  return { ...(await start(world, script)), goOn: () => mkdirSync(gate) };
}

/** A crash and a new server at the same address; `meanwhile` happens while there is none. */
async function restart(meanwhile = () => {}) {
  const port = Number(new URL(world.forge.base).port);
  await world.forge.crash();
  meanwhile();
  await world.forge.up(port);
}

const collect = async <T>(stream: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const one of stream) all.push(one);
  return all;
};

describe("a log", () => {
  it("arrives without gap or repetition across a crash of the server", async () => {
    const { process, goOn, attempt } = await startInTwoHalves(200);
    const live: RawLogLine[] = [];
    const cuts: unknown[] = [];
    const entries: string[] = [];
    const options = { onReconnect: (cause: unknown) => void cuts.push(cause) };
    const raw = (async () => {
      for await (const line of world.client.watchRawLogs(process, options)) live.push(line);
    })();
    const readable = (async () => {
      for await (const change of world.client.watchNormalizedLogs(process)) {
        if (change.op === "add") entries.push(change.entry?.content ?? "");
      }
    })();
    await until("the first half", () => live.find((line) => line.content.includes("first 199")));
    await until("the first half, readable", () => entries.find((text) => text === "first 199"));
    await restart(goOn);
    await Promise.all([raw, readable]);

    expect(cuts.length).toBeGreaterThan(0);
    expect((await ended(world, attempt)).status).toBe("completed");
    expect(live.map((line) => line.index)).toEqual(live.map((_, at) => at));
    expect(live).toEqual(await collect(world.client.watchRawLogs(process)));
    const said = entries.filter((text) => /^(first|second) \d+$/.test(text));
    expect(said).toHaveLength(400);
    expect(new Set(said).size).toBe(400);
  });

  it("begins with its last lines, and goes on from there across a crash", async () => {
    const { process, goOn, attempt } = await startInTwoHalves(200);
    const read = (): Promise<FramePage> =>
      world.client.request("GET /api/execution-processes/{process_id}/raw-logs", { path: { process_id: process } });
    const half = await until("the first half", async () => {
      const { frames } = await read();
      return JSON.stringify(frames).includes("first 199") ? frames : undefined;
    });
    const last: RawLogLine[] = [];
    const reader = (async () => {
      for await (const line of world.client.watchRawLogs(process, { tail: 1 })) last.push(line);
    })();
    const { index } = await until("the last line so far", () => last[0]);
    expect(index).toBeGreaterThanOrEqual(half.length - 1);
    await restart(goOn);
    await reader;
    await ended(world, attempt);
    const all = await collect(world.client.watchRawLogs(process));
    expect(all.length).toBeGreaterThan(half.length);
    expect(last).toEqual(all.slice(index));
    expect(await collect(world.client.watchRawLogs(process, { tail: 1 }))).toEqual(all.slice(-1));
  });

  it("ends when its reader leaves, and by its signal", async () => {
    const { process, attempt, goOn } = await startInTwoHalves(3);
    for await (const line of world.client.watchRawLogs(process)) {
      if (line.content.includes("first")) break;
    }
    const end = new AbortController();
    const seen = collect(world.client.watchRawLogs(process, { signal: end.signal }));
    const never = collect(world.client.watchRawLogs(process, { signal: AbortSignal.abort() }));
    end.abort();
    expect((await seen).length).toBeLessThan(10);
    expect(await never).toEqual([]);
    goOn();
    await ended(world, attempt);
  });

  it("of nothing is an error and not a wait", async () => {
    expect(await failure(collect(world.client.watchRawLogs(ABSENT)))).toMatchObject({
      name: "ForgeError",
      status: 404,
    });
  });
});

describe("a document", () => {
  it("of tasks goes on after a crash with what it missed", async () => {
    const seen: string[] = [];
    const end = new AbortController();
    let titles = (): string[] => [];
    const reader = (async () => {
      for await (const { document, patch } of world.client.watchTasks(world.project, { signal: end.signal })) {
        titles = () => Object.values(document.tasks).map((task) => task.title);
        seen.push(...patch.map((operation) => operation.path));
      }
    })();
    await until("the snapshot", () => seen[0]);
    await world.client.createTask(world.project, { title: "before" });
    await until("the first task", () => titles().find((title) => title === "before"));
    await restart();
    await world.client.createTask(world.project, { title: "after" });
    await until("the second task", () => titles().find((title) => title === "after"));
    end.abort();
    await reader;
    expect(seen.filter((path) => path === "/tasks")).toEqual(["/tasks"]);
  });

  it("of processes, drafts and a diff follows what happens", async () => {
    const { attempt, goOn } = await startInTwoHalves(1);
    const path = (await world.client.getTaskAttempt(attempt)).worktree_path ?? "";
    const end = new AbortController();
    const { signal } = end;
    const state = { processes: "", draft: "", files: [] as string[], cuts: 0 };
    const readers = [
      (async () => {
        for await (const { document } of world.client.watchExecutionProcesses(attempt, { signal })) {
          state.processes = Object.values(document.execution_processes)
            .map((one) => one.status)
            .join();
        }
      })(),
      (async () => {
        for await (const { document } of world.client.watchDrafts(world.project, { signal })) {
          state.draft = document.drafts[attempt]?.follow_up.prompt ?? "";
        }
      })(),
      (async () => {
        for await (const { document } of world.client.watchDiff(attempt, {
          signal,
          statsOnly: true,
          onReconnect: () => state.cuts++,
        })) {
          state.files = Object.keys(document.entries);
        }
      })(),
    ];
    await until("a process", () => (state.processes === "running" ? true : undefined));
    writeFileSync(join(path, "new~1.txt"), "x");
    mkdirSync(join(path, "deep"));
    writeFileSync(join(path, "deep", "er.txt"), "x");
    await world.client.saveDraft(attempt, "follow_up", "later");
    await until("the draft", () => (state.draft === "later" ? true : undefined));
    await until("the files", () => (state.files.length === 2 ? true : undefined));
    expect(state.files.sort()).toEqual(["deep/er.txt", "new~1.txt"]);
    await restart();
    goOn();
    await until("the end", () => (state.processes === "completed" ? true : undefined));
    await until("a second connection", () => (state.cuts > 0 ? true : undefined));
    await until("the files again", () => (state.files.length === 2 ? true : undefined));
    end.abort();
    await Promise.all(readers);
  });
});

describe("events", () => {
  it("arrive once, in order, across a crash", async () => {
    const end = new AbortController();
    const seen: ForgeEvent[] = [];
    const reader = (async () => {
      for await (const event of world.client.watchEvents({ signal: end.signal })) seen.push(event);
    })();
    const arrived = (id: string) => () => seen.find((event) => JSON.stringify(event.data).includes(id));
    const first = await world.client.createTask(world.project, { title: "first" });
    await until("the first event", arrived(first.id));
    const before = seen[0]?.id ?? 0;
    await restart();
    const second = await world.client.createTask(world.project, { title: "second" });
    await until("the second event", arrived(second.id));
    end.abort();
    await reader;
    const ids = seen.map((event) => event.id);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
    const again = new AbortController();
    const replay: ForgeEvent[] = [];
    for await (const event of world.client.watchEvents({ after: before - 1, signal: again.signal })) {
      if (replay.push(event) === seen.length) again.abort();
    }
    expect(replay).toEqual(seen);
  });

  it("come over a socket from now on, once and in order across a crash, with what happens to projects", async () => {
    const client = new ForgeClient(world.forge.base, undefined, { WebSocket: Borrowed as never });
    await world.client.createTask(world.project, { title: "before anybody looked" });
    const end = new AbortController();
    const seen: ForgeEvent[] = [];
    const calls = { opened: 0, cuts: 0, gaps: 0 };
    const reader = (async () => {
      const options = { onOpen: () => calls.opened++, onReconnect: () => calls.cuts++, onGap: () => calls.gaps++ };
      for await (const event of client.watchEvents({ signal: end.signal, ...options })) seen.push(event);
    })();
    await until("the connection", () => (calls.opened === 1 ? true : undefined));
    const names = (text: string) => () => seen.find((event) => JSON.stringify(event.data).includes(text));
    const { attempt } = await start(world, "say done");
    await until("the attempt", () => seen.find((event) => event.event === "attempt" && event.data.id === attempt));
    await ended(world, attempt);
    const [card] = await client.listTaskCards(world.project);
    expect(card).toMatchObject({ attempt_id: attempt, status: "completed", attempts: 1 });
    await restart();
    const repo = world.forge.repository("passing");
    const passing = await world.client.createProject({ name: "passing", git_repo_path: repo, use_existing_repo: true });
    await until("the project", () => seen.find((event) => event.event === "project" && event.data.id === passing.id));
    await world.client.deleteProject(passing.id);
    await until("its end", () => seen.find((event) => event.event === "project_removed" && event.data === passing.id));
    const last = seen.at(-1)?.id ?? 0;
    end.abort();
    await reader;
    expect(names("before anybody looked")()).toBeUndefined();
    expect(seen.map((event) => event.event as string)).not.toContain("hello");
    const ids = seen.map((event) => event.id);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
    expect(calls).toMatchObject({ opened: 2, gaps: 0 });
    expect(calls.cuts).toBeGreaterThan(0);

    const first = seen[0]?.id ?? 0;
    const replay: ForgeEvent[] = [];
    const again = new AbortController();
    for await (const event of client.watchEvents({ after: first - 1, signal: again.signal })) {
      replay.push(event);
      if (event.id >= last) again.abort();
    }
    expect(replay).toEqual(seen);

    let gaps = 0;
    const lost = new AbortController();
    const onGap = () => {
      gaps++;
      lost.abort();
    };
    const options = { after: last + 1_000_000, signal: lost.signal, onGap };
    for await (const event of client.watchEvents(options)) expect(event).toBeUndefined();
    expect(gaps).toBe(1);
  });

  it("come as from an EventSource too", async () => {
    const source = world.client.subscribeToEvents();
    const seen: string[] = [];
    source.onopen = () => void seen.push("open");
    source.addEventListener("json_patch", (event) => void seen.push((event as MessageEvent<string>).data));
    await until("the connection", () => seen.find((word) => word === "open"));
    const task = await world.client.createTask(world.project, { title: "event" });
    await until("the event", () => seen.find((text) => text.includes(task.id)));
    source.close();
    expect(source.readyState).toBe(2);
  });
});

describe("a server that wants a token", () => {
  it("gets it from calls, sockets and events", async () => {
    const forge = await Forge.start(["--require-token"]);
    try {
      const client = new ForgeClient(forge.base, readFileSync(join(forge.home, "token"), "utf8").trim());
      const stranger = new ForgeClient(forge.base, "guess");
      for (const call of [
        (one: ForgeClient) => one.listProjects(),
        (one: ForgeClient) => one.watchTasks(ABSENT).next(),
        (one: ForgeClient) => one.watchEvents().next(),
      ]) {
        expect(await failure(call(stranger))).toMatchObject({ name: "ForgeError", status: 401 });
      }
      const repo = forge.repository("demo");
      const { id } = await client.createProject({ name: "demo", git_repo_path: repo, use_existing_repo: true });
      await client.createTask(id, { title: "seen" });
      for await (const { document } of client.watchTasks(id)) {
        expect(Object.values(document.tasks).map((task) => task.title)).toEqual(["seen"]);
        break;
      }
      for await (const event of client.watchEvents()) {
        expect(JSON.stringify(event.data)).toContain("seen");
        break;
      }
    } finally {
      await forge.close();
    }
  });
});
