// A call whose answer is lost is made again under its key, and the server does what it asks for once.
import { ForgeClient } from "@forge/client";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { failure, makeWorld, type World } from "./fixture.js";

let world: World;
beforeAll(async () => {
  world = await makeWorld();
});
afterAll(() => world.forge.close());

/** A client that loses so many answers of calls that the server has carried out, and then finds it busy so many times. */
function losing(answers: number, busy = 0) {
  const keys: (string | null)[] = [];
  const lossy: typeof fetch = async (url, request) => {
    keys.push(new Headers(request?.headers).get("idempotency-key"));
    if (answers <= 0 && busy-- > 0) return new Response("{}", { status: 409 });
    const response = await fetch(url, request);
    if (answers-- > 0) throw new TypeError("the connection was lost");
    return response;
  };
  return { client: new ForgeClient(world.forge.base, undefined, { fetch: lossy }), keys };
}

const titled = async (title: string) =>
  (await world.client.listTasks(world.project)).filter((task) => task.title === title).length;

it("makes one task when an answer is lost", async () => {
  const { client, keys } = losing(1);
  const task = await client.createTask(world.project, { title: "lost once" });
  expect(await titled("lost once")).toBe(1);
  expect((await world.client.getTask(world.project, task.id)).title).toBe("lost once");
  expect(new Set(keys).size).toBe(1);
});

it("keeps the key until there is an answer, also when the caller tries again", async () => {
  const { client, keys } = losing(3);
  expect(await failure(client.createTask(world.project, { title: "lost thrice" }))).toBeInstanceOf(TypeError);
  await client.createTask(world.project, { title: "lost thrice" });
  expect([await titled("lost thrice"), new Set(keys).size]).toEqual([1, 1]);
  await client.createTask(world.project, { title: "lost thrice" });
  expect([await titled("lost thrice"), new Set(keys).size], "another call is another task").toEqual([2, 2]);
});

it("keeps the key of a lost answer while the server has not decided", async () => {
  const { client, keys } = losing(3, 1);
  const create = () => client.createTask(world.project, { title: "undecided" });
  for (let lost = 0; lost < 2; lost++) await failure(create());
  await create();
  expect([await titled("undecided"), new Set(keys).size]).toEqual([1, 1]);
});

it("forgets the key of a lost answer after a while: the same words are then meant again", async () => {
  const { client, keys } = losing(3);
  const create = () => client.createTask(world.project, { title: "meant again" });
  await failure(create());
  vi.useFakeTimers({ now: Date.now() + 600_000, toFake: ["Date"] });
  await create().finally(() => vi.useRealTimers());
  expect([await titled("meant again"), new Set(keys).size]).toEqual([2, 2]);
});

it("sends no key where none is honoured", async () => {
  const { client, keys } = losing(0);
  await client.listTasks(world.project);
  expect(keys).toEqual([null]);
});
