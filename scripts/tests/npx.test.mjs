// The package as its users get it: built, packed, installed into an empty folder, started.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { readVersion } from "../release/version.mjs";
import { ROOT, run, start, tempFolder, until } from "./fixture.mjs";

const PLATFORM = `${process.platform === "darwin" ? "macos" : process.platform}-${process.arch}`;
const OFFLINE = ["--offline", "--no-audit", "--no-fund", "--no-update-notifier"];

/** A copy of the package's folder, without what an earlier build left in it. */
function copyPackage(folder) {
  const copy = path.join(folder, "package");
  const leave = [path.join(ROOT, "npx-cli", "dist"), path.join(ROOT, "npx-cli", "LICENSE")];
  fs.cpSync(path.join(ROOT, "npx-cli"), copy, { recursive: true, filter: (source) => !leave.includes(source) });
  return copy;
}

async function build(t, copy, ...more) {
  const args = ["run", "-s", "build:npx", "--", "--package", copy, ...more];
  const built = await run(t, "npm", args, { cwd: ROOT, env: { ...process.env, FORGE_NPX_PROFILE: "debug" } });
  assert.equal(built.code, 0, built.stderr);
  return copy;
}

/** A package around a program of the test's own. */
async function buildAround(t, folder, script) {
  const program = path.join(folder, "program");
  fs.writeFileSync(program, `#!/bin/sh\n${script}\n`);
  return build(t, copyPackage(folder), "--binary", program);
}

/** Packs and installs; answers how to start what was installed. */
async function install(t, folder, copy) {
  const env = {
    ...process.env,
    XDG_CACHE_HOME: path.join(folder, "cache"),
    npm_config_cache: path.join(folder, "npm"),
  };
  const packed = await run(t, "npm", ["pack", copy, "--json", ...OFFLINE], { cwd: folder, env });
  assert.equal(packed.code, 0, packed.stderr);
  const place = path.join(folder, "user");
  fs.mkdirSync(place);
  fs.writeFileSync(path.join(place, "package.json"), '{"private": true}');
  const tarball = path.join(folder, JSON.parse(packed.stdout)[0].filename);
  const installed = await run(t, "npm", ["install", ...OFFLINE, tarball], { cwd: place, env });
  assert.equal(installed.code, 0, installed.stderr);
  return { cwd: place, env, tarball, program: path.join(place, "node_modules", ".bin", "forge") };
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function unpacked(folder) {
  const place = path.join(folder, "cache", "forge", "npx");
  if (!fs.existsSync(place)) return [];
  return fs.readdirSync(place, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
}

test("the command that comes next packs what was built, and nothing of the registry", async (t) => {
  const folder = tempFolder(t);
  const copy = copyPackage(folder);
  const program = path.join(folder, "program");
  fs.writeFileSync(program, "#!/bin/sh\n");
  const script = path.join(ROOT, "scripts/release/build-npx.mjs");
  const built = await run(t, "node", [script, "--binary", program, "--package", path.basename(copy)], { cwd: folder });
  const next = /^Next: (.+)$/m.exec(built.stdout)?.[1];
  const packed = await run(t, "sh", ["-c", `${next} --json ${OFFLINE.join(" ")}`], { cwd: folder });
  assert.equal(JSON.parse(packed.stdout)[0]?.name, "@automagik/forge", packed.stderr);
});

test("the real program is built, packed, installed offline and prints its version", async (t) => {
  const folder = tempFolder(t);
  const copy = await build(t, copyPackage(folder));
  const zip = path.join(copy, "dist", PLATFORM, "forge.zip");
  const first = [fs.readFileSync(zip), fs.readFileSync(path.join(copy, "dist", "SHA256SUMS"))];
  fs.rmSync(path.join(copy, "dist"), { recursive: true });
  await build(t, copy);
  assert.ok(first[0].equals(fs.readFileSync(zip)), "two builds of the same program differ");
  assert.ok(first[1].equals(fs.readFileSync(path.join(copy, "dist", "SHA256SUMS"))));

  const { cwd, env, tarball } = await install(t, folder, copy);
  const straight = await run(t, "npx", ["--offline", "--yes", `./${path.basename(tarball)}`, "--version"], {
    cwd: folder,
    env,
  });
  assert.equal(straight.stdout.trim(), `forge ${readVersion()}`, straight.stderr);
  const installed = await run(t, "npx", ["--offline", "forge", "--version"], { cwd, env });
  assert.equal(installed.stdout.trim(), `forge ${readVersion()}`, installed.stderr);
  const refused = await run(t, "npx", ["--offline", "forge", "no-such-command"], { cwd, env });
  assert.equal(refused.code, 2, "the exit code of the program is that of npx");
});

test("arguments, exit codes, standard input and --mcp reach the program", async (t) => {
  const folder = tempFolder(t);
  const copy = await buildAround(t, folder, 'for word; do echo "<$word>"; done; cat; exit 42');
  const { cwd, env, program } = await install(t, folder, copy);
  const plain = await run(t, program, ["run", "two words", "--mcp", "$HOME"], { cwd, env });
  assert.equal(plain.code, 42);
  assert.equal(plain.stdout, "<run>\n<two words>\n<--mcp>\n<$HOME>\n");
  const mcp = start(t, program, ["--mcp", "--verbose"], { cwd, env, stdio: "pipe" });
  mcp.child.stdin.end('{"jsonrpc": "2.0"}\n');
  assert.equal((await mcp.ended).stdout, '<mcp>\n<--verbose>\n{"jsonrpc": "2.0"}\n');
});

test("a signal reaches the program, and its end by a signal is the end of the launcher", async (t) => {
  const folder = tempFolder(t);
  const script =
    'trap "echo heard; exit 7" TERM INT; [ "$1" = deaf ] && trap - TERM; echo $$; while :; do sleep 0.05; done';
  const { cwd, env, program } = await install(t, folder, await buildAround(t, folder, script));
  for (const signal of ["SIGTERM", "SIGINT"]) {
    const launched = start(t, program, [], { cwd, env });
    await until("the program", () => launched.stdout.includes("\n"));
    launched.child.kill(signal);
    const { code, stdout } = await launched.ended;
    assert.deepEqual([code, stdout.split("\n")[1]], [7, "heard"], signal);
  }
  const launched = start(t, program, ["deaf"], { cwd, env });
  await until("the program", () => launched.stdout.includes("\n"));
  launched.child.kill("SIGTERM");
  const { signal, stdout } = await launched.ended;
  assert.equal(signal, "SIGTERM");
  assert.ok(!isAlive(Number(stdout)), "the program is left behind");
});

test("npx that is ended ends the program, and a launcher that was started detached stays", async (t) => {
  const folder = tempFolder(t);
  const script = 'trap "exit 0" TERM; echo $$; while :; do sleep 0.05; echo alive; done';
  const { cwd, env, program } = await install(t, folder, await buildAround(t, folder, script));
  const npx = start(t, "npx", ["--offline", "forge"], { cwd, env });
  const pid = Number(await until("the program", () => /^\d+\n/.exec(npx.stdout)?.[0]));
  npx.child.kill("SIGTERM");
  await until("its end", () => !isAlive(pid));

  // One that is started by a program of npm's, which ends: the way to a server that stays.
  const starter = `const fs = require('fs'), words = fs.openSync('words', 'w');
    require('child_process').spawn(process.argv[1], [], { detached: true, stdio: ['ignore', words, words] }).unref();
    setInterval(() => fs.fstatSync(words).size > 0 && process.exit(0), 20);`;
  const started = await run(t, "node", ["-e", starter, program], { cwd, env: { ...env, npm_command: "exec" } });
  assert.equal(started.code, 0, started.stderr);
  const words = () => fs.readFileSync(path.join(cwd, "words"), "utf8");
  const left = Number(await until("the program", () => /^\d+\n/.exec(words())?.[0]));
  t.after(() => isAlive(left) && process.kill(left, "SIGTERM"));
  const seen = words().length;
  await until("signs of life, long after", () => words().length > seen + 40 * "alive\n".length);
});

test("two first starts at once both work and leave one program", async (t) => {
  const folder = tempFolder(t);
  // Large enough that a start would find it half written, and its words come last.
  const large = `${"# padding\n".repeat(4_000_000)}echo fine`;
  const { cwd, env, program } = await install(t, folder, await buildAround(t, folder, large));
  const starts = await Promise.all(Array.from({ length: 6 }, () => run(t, program, [], { cwd, env })));
  for (const { code, stdout, stderr } of starts) assert.deepEqual([code, stdout], [0, "fine\n"], stderr);
  assert.deepEqual(
    unpacked(folder).map(({ name }) => name),
    ["forge"],
  );
});

test("a damaged archive is refused and leaves nothing in the cache", async (t) => {
  const folder = tempFolder(t);
  const { cwd, env, program } = await install(t, folder, await buildAround(t, folder, "echo fine"));
  const zip = path.join(cwd, "node_modules", "@automagik", "forge", "dist", PLATFORM, "forge.zip");
  const bytes = fs.readFileSync(zip);
  bytes[bytes.length >> 1] ^= 1;
  fs.writeFileSync(zip, bytes);
  const refused = await run(t, program, [], { cwd, env });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /forge\.zip is damaged: .*Install the package again/);
  assert.deepEqual(unpacked(folder), []);
});

test("a platform without a program gets the list of those that have one", async (t) => {
  const folder = tempFolder(t);
  const { cwd, env, program } = await install(t, folder, await buildAround(t, folder, "echo fine"));
  const dist = path.join(cwd, "node_modules", "@automagik", "forge", "dist");
  const sums = path.join(dist, "SHA256SUMS");
  fs.writeFileSync(sums, fs.readFileSync(sums, "utf8").replace(PLATFORM, "amiga-m68k"));
  const refused = await run(t, program, [], { cwd, env });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, new RegExp(`no program for ${PLATFORM} in this package \\(there is: amiga-m68k\\)`));
});
