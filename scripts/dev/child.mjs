// One process that this one started and ends. It leads a group of its own, so a key press in the terminal reaches it only
// through us, in order.

import { spawn } from "node:child_process";
import { once } from "node:events";

const POLITE_MS = 10_000;

export class Child {
  #child;
  #over = false;
  /** Settles with `{code, signal}`, or with `{error}` when it could not be started. */
  ended;

  constructor(command, args, options) {
    this.#child = spawn(command, args, { detached: true, stdio: ["ignore", "inherit", "inherit"], ...options });
    this.ended = once(this.#child, "exit").then(
      ([code, signal]) => ({ code, signal }),
      (error) => ({ error }),
    );
    this.ended.then(() => (this.#over = true));
  }

  get isOver() {
    return this.#over;
  }

  /** Asks it to end, and ends it when it does not. `whom`: the process alone, or the group that it leads. */
  async end(whom) {
    this.#signal(whom, "SIGTERM");
    const limit = setTimeout(() => this.#signal(whom, "SIGKILL"), POLITE_MS);
    await this.ended;
    clearTimeout(limit);
  }

  #signal(whom, signal) {
    if (this.#over || this.#child.pid === undefined) return;
    try {
      process.kill(whom === "group" ? -this.#child.pid : this.#child.pid, signal);
    } catch (error) {
      if (error.code !== "ESRCH") throw error;
    }
  }
}
