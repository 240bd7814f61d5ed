// The server of the scripts, as clients of the protocol need it: its environment, its address, waits for its log.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Forge as Server } from "../../scripts/lib/forge.mjs";

const PATIENCE_MS = 60_000;

export const program = process.env.FORGE_PROGRAM ?? fileURLToPath(new URL("../../target/debug/forge", import.meta.url));

export class Forge extends Server {
  constructor() {
    super(["--stop-agents"], [program]);
  }

  static async start() {
    const forge = new Forge();
    await forge.up();
    return forge;
  }

  /** What a client gives to the program that it starts. No server is looked for elsewhere. */
  get env() {
    return { PATH: process.env.PATH, HOME: this.dir, TMPDIR: this.dir, FORGE_HOME: this.home, PORT: "0" };
  }

  url() {
    return new URL(`${this.base}/mcp`);
  }

  git(path, ...args) {
    return execFileSync("git", ["-C", path, ...args], { encoding: "utf8" }).trim();
  }

  /** Waits until the log has such a line; `complaint` says what is missing when it does not come. */
  async untilLogged(holds, complaint) {
    for (const begun = Date.now(); !this.log().split("\n").some(holds); ) {
      if (Date.now() - begun > PATIENCE_MS) throw new Error(`${complaint}:\n${this.log()}`);
      await new Promise((done) => setTimeout(done, 20));
    }
  }
}
