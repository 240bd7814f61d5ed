#!/usr/bin/env node
// Runs the program of this package as if it had been started directly: same arguments, same terminal, same signals,
// same end. `--mcp` in front is the older name of the command `mcp`.

import { spawn } from "node:child_process";
import { constants } from "node:os";

import { watchParent } from "../lib/parent.js";
import { unpack } from "../lib/unpack.js";

const FORWARDED = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"];
// A terminal sends these to every process in front of it; passing them on would make two of one key press.
const SENT_BY_TERMINAL = new Set(["SIGINT", "SIGQUIT"]);
// Ends that are no accident: those may end this process too without a core dump.
const PLAIN_ENDS = new Set(["SIGTERM", "SIGINT", "SIGHUP", "SIGKILL"]);

function programArguments(given) {
  return given[0] === "--mcp" ? ["mcp", ...given.slice(1)] : given;
}

function atTerminal() {
  return [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY);
}

function endLike(code, signal) {
  if (signal === null) process.exit(code);
  if (PLAIN_ENDS.has(signal)) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
    return;
  }
  process.exit(128 + constants.signals[signal]);
}

function fail(message) {
  process.stderr.write(`forge: ${message}\n`);
  process.exit(1);
}

function run(program) {
  let child = null;
  // First, or a signal that comes with the program's first word would end the launcher alone. None is heard before the
  // program is there: nothing waits in between.
  for (const signal of FORWARDED) {
    process.on(signal, () => {
      if (!SENT_BY_TERMINAL.has(signal) || !atTerminal()) child.kill(signal);
    });
  }
  child = spawn(program, programArguments(process.argv.slice(2)), { stdio: "inherit" });
  child.on("error", (error) => fail(`cannot start ${program}: ${error.message}`));
  child.on("exit", endLike);
  watchParent(() => child.kill("SIGTERM"));
}

try {
  run(unpack());
} catch (error) {
  fail(error.message);
}
