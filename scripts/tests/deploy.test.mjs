// What the container and the service promise, read from their files; the health check is run against a real server.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { ROOT, run, start, tempFolder, until } from "./fixture.mjs";

const read = (name) => fs.readFileSync(path.join(ROOT, name), "utf8");

/** `[instruction, rest]` of each line of a Dockerfile, with continued lines joined; only those of the last stage. */
function lastStage() {
  const lines = read("Dockerfile")
    .replace(/^#.*\n/gm, "")
    .replace(/\\\n\s*/g, "")
    .split("\n")
    .filter(Boolean);
  const all = lines.map((line) => /^([A-Z]+) (.*)$/.exec(line).slice(1));
  return all.slice(all.findLastIndex(([instruction]) => instruction === "FROM"));
}

const every = (instruction) =>
  lastStage()
    .filter(([name]) => name === instruction)
    .map(([, rest]) => rest);

const environment = () =>
  Object.fromEntries(
    every("ENV")
      .join(" ")
      .split(/\s+/)
      .map((pair) => pair.split("=")),
  );

test("the container does not run as root and keeps its data in a volume", () => {
  const users = every("USER");
  assert.equal(users.length, 1);
  assert.ok(!/^(root|0)(:|$)/.test(users[0]), users[0]);
  assert.deepEqual(every("VOLUME"), [environment().FORGE_HOME]);
  assert.ok(environment().FORGE_WORKTREE_DIR.startsWith(`${environment().FORGE_HOME}/`), "worktrees hold work too");
  assert.ok(!/--no-token/.test(lastStage().flat().join(" ")), "an open address needs a token");
});

test("the container is built by the compiler of the workspace", () => {
  const channel = /channel = "(.*)"/.exec(read("rust-toolchain.toml"))[1];
  assert.match(read("Dockerfile"), new RegExp(`^FROM rust:${channel.replaceAll(".", "\\.")}-.* AS build$`, "m"));
});

test("the health check passes on a server that is set up like that of the container, and fails without it", async (t) => {
  const folder = tempFolder(t);
  const env = { ...process.env, ...environment(), PORT: "0", TMPDIR: folder };
  delete env.BACKEND_PORT;
  env.FORGE_HOME = path.join(folder, "home");
  env.FORGE_WORKTREE_DIR = path.join(folder, "worktrees");
  const command = JSON.parse(/ CMD (\[.*\])$/.exec(every("HEALTHCHECK")[0])[1]);
  const server = start(t, path.join(ROOT, "target", "debug", "forge"), JSON.parse(every("CMD")[0]), {
    cwd: folder,
    env,
  });
  const port = await until("the server", () => / listens on http:\/\/127\.0\.0\.1:(\d+)/.exec(server.stdout)?.[1]);

  const isHealthy = async () =>
    (await run(t, command[0], command.slice(1), { env: { ...env, PORT: port } })).code === 0;
  await until("the server to be healthy", isHealthy);
  const ask = `fetch('http://127.0.0.1:${port}/api/projects').then((answer) => console.log(answer.status))`;
  const asked = async (who) => (await run(t, process.execPath, ["-e", ask], { cwd: "/", ...who })).stdout.trim();
  assert.equal(await asked({}), "200", "whoever runs in the container as its user needs no token");
  if (process.getuid() === 0) assert.equal(await asked({ uid: 65534, gid: 65534 }), "401", "everybody else does");
  else t.diagnostic("not root, so nobody else was tried");
  server.child.kill("SIGTERM");
  await server.ended;
  assert.equal(await isHealthy(), false);
});

test("the service leaves keepers and agents alone when it stops, and starts a command that exists", async (t) => {
  const settings = read("packaging/systemd/forge.service")
    .split("\n")
    .filter((line) => /^\w+=/.test(line));
  assert.ok(settings.includes("KillMode=process"));
  assert.ok(settings.includes("OOMPolicy=continue"));
  assert.ok(!settings.some((line) => /^(PrivateTmp|ProtectHome|User)=/.test(line)), "it works in its user's folders");
  const command = settings
    .find((line) => line.startsWith("ExecStart="))
    .split(" ")
    .slice(1);
  const help = await run(t, path.join(ROOT, "target", "debug", "forge"), [...command, "--help"]);
  assert.equal(help.code, 0, help.stderr);
});
