// A real terminal: tmux on a socket of its own, typed into and looked at.
// Invariant: when it is ended, so is its tmux server, and no other.
import { execFileSync } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";

const PATIENCE_MS = 60_000;
const SHELL = ["bash", "--norc", "--noprofile"];

export class Terminal {
  constructor(name, { dir, env, columns, rows, program = SHELL }) {
    this.socket = `forge-${name}-${process.pid}`;
    // Set by `env`, because tmux has its own PATH for the first pane.
    const set = Object.entries(env).map(([key, value]) => `${key}=${value}`);
    this.tmux("new-session", "-d", "-x", columns, "-y", rows, "-c", dir, "env", ...set, ...program);
  }

  tmux(...args) {
    return execFileSync("tmux", ["-L", this.socket, "-f", "/dev/null", ...args.map(String)], { encoding: "utf8" });
  }

  type(line) {
    this.tmux("send-keys", "-l", line);
    this.tmux("send-keys", "Enter");
  }

  press(...keys) {
    this.tmux("send-keys", ...keys);
  }

  rows() {
    const rows = this.tmux("capture-pane", "-p")
      .split("\n")
      .map((row) => row.trimEnd());
    while (rows.at(-1) === "") rows.pop();
    return rows;
  }

  /** What is shown, with its colours as escape sequences. */
  painted() {
    return this.tmux("capture-pane", "-p", "-e", "-N").replace(/\n$/, "").split("\n");
  }

  async until(what, holds) {
    const begun = Date.now();
    while (!holds(this.rows())) {
      if (Date.now() - begun > PATIENCE_MS) throw new Error(`waited in vain for ${what}:\n${this.rows().join("\n")}`);
      await pause(100);
    }
  }

  /** Until the prompt is back, alone on the last row. */
  idle() {
    return this.until("the prompt", (rows) => rows.at(-1) === "$");
  }

  end() {
    this.tmux("kill-server");
  }
}
