// `npm run dev`: the server from a debug build, on a port that is free, with its data in dev_assets/; built and started
// again when the code changes. A build that fails leaves the old server running, and agents outlive each restart.
//
// Invariant: when this ends, however it is asked to, no process that it started is left. Agents are not its processes.

import fs from "node:fs";
import path from "node:path";
import { ROOT } from "../lib/root.mjs";
import { prepareAssets } from "./assets.mjs";
import { startBuild, takeBuild } from "./build.mjs";
import { Child } from "./child.mjs";
import { findPort } from "./ports.mjs";
import { Watch } from "./watch.mjs";

const FIRST_PORT = 8890;
const inRoot = (name) => path.join(ROOT, name);

let build = null;
let server = null;
let page = null;
let stopping = false;
let turn = Promise.resolve();

function say(text) {
  console.log(`[dev] ${text}`);
}

function startServer(program, assets, port) {
  const env = { ...process.env, FORGE_HOME: assets, BACKEND_PORT: String(port), DISABLE_BROWSER_OPEN: "1" };
  const started = new Child(program, ["serve"], { cwd: ROOT, env });
  started.ended.then(({ code, signal, error }) => {
    if (!stopping && started === server) {
      say(
        `the server ended (${error?.message ?? signal ?? `exit code ${code}`}); it starts again when the code changes`,
      );
    }
  });
  return started;
}

/** The page's tools are there after `npm ci`, which the first build runs, and never in a packed source tree. */
function hasPageTools() {
  return fs.existsSync(inRoot("web/package.json")) && fs.existsSync(inRoot("node_modules/vite"));
}

/** The page with hot reload, in front of the server, once its tools are there. */
async function showPage(port) {
  if (page || stopping || !hasPageTools()) return;
  const pagePort = await findPort(port + 1);
  if (stopping) return;
  const env = { ...process.env, FORGE_URL: `http://127.0.0.1:${port}` };
  const args = [
    "run",
    "--silent",
    "dev",
    "--workspace",
    "@forge/web",
    "--",
    "--host",
    "127.0.0.1",
    "--port",
    String(pagePort),
  ];
  page = new Child("npm", args, { cwd: ROOT, env });
  say(
    `page    http://127.0.0.1:${pagePort} (follows web/src; the server's own address shows the page as it was built)`,
  );
}

/** One round: build, and replace the server when the build made another program, or when there is none. */
async function renew(assets, port) {
  build = startBuild();
  const { code, error } = await build.ended;
  build = null;
  if (stopping) return;
  if (error) return say(`cannot run cargo: ${error.message}. Run ./setup.sh to see what is missing`);
  if (code !== 0)
    return say(server?.isOver === false ? "the build failed; the old server keeps running" : "the build failed");
  const { program, renewed } = takeBuild();
  if (server?.isOver === false) {
    if (!renewed) return;
    say("the code changed; the server starts again");
    const old = server;
    server = null;
    await old.end("process");
    if (stopping) return;
  }
  server = startServer(program, assets, port);
  await showPage(port);
}

async function stop(watch) {
  if (stopping) return;
  stopping = true;
  watch.close();
  await Promise.all([build?.end("group"), server?.end("process"), page?.end("group")]);
  await turn;
}

const { assets, fresh } = prepareAssets();
const port = Number(process.env.BACKEND_PORT) || (await findPort(FIRST_PORT));
say(`data    ${assets}${fresh ? " (new, from dev_assets_seed)" : ""}`);
say(`server  http://127.0.0.1:${port}`);

let waiting = false;
const round = () => {
  // Changes during a build make one more build, not many.
  if (waiting || stopping) return;
  waiting = true;
  const next = () => {
    waiting = false;
    return stopping ? undefined : renew(assets, port);
  };
  turn = turn.then(next).catch((error) => say(`something went wrong: ${error.message}; the next change tries again`));
};
const watch = new Watch([inRoot("crates")], [inRoot("Cargo.toml"), inRoot("Cargo.lock")], round);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => stop(watch));
// A terminal that went away must not end this before its children.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
await showPage(port);
if (!page) say("page    as it was built, until its tools are there (`npm ci`, which the first build runs)");
round();
