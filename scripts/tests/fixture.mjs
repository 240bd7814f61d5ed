// What the tests of the scripts share: folders that go away, commands with a time limit, waiting for what must happen.

import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

export { ROOT } from "../lib/root.mjs";

const COMMAND_LIMIT_MS = 300_000;
const FAREWELL_MS = 15_000;
const EVENT_LIMIT_MS = 60_000;

export function tempFolder(test) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "forge-scripts-"));
  test.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts a command and keeps its output; when the test ends first, the command gets time to end its own children. */
export function start(test, command, args, options = {}) {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
  const started = { child, stdout: "", stderr: "" };
  child.stdout.on("data", (bytes) => (started.stdout += bytes));
  child.stderr.on("data", (bytes) => (started.stderr += bytes));
  started.ended = once(child, "close").then(([code, signal]) => ({ code, signal, ...output(started) }));
  const limit = setTimeout(() => child.kill("SIGKILL"), COMMAND_LIMIT_MS);
  started.ended.finally(() => clearTimeout(limit));
  test.after(async () => {
    child.kill("SIGTERM");
    const last = setTimeout(() => child.kill("SIGKILL"), FAREWELL_MS);
    await started.ended;
    clearTimeout(last);
  });
  return started;
}

function output({ stdout, stderr }) {
  return { stdout, stderr };
}

/** Runs a command to its end: `{code, signal, stdout, stderr}`. */
export async function run(test, command, args, options) {
  return start(test, command, args, options).ended;
}

/** Repeats a check until it returns something. */
export async function until(what, ask) {
  const deadline = Date.now() + EVENT_LIMIT_MS;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
