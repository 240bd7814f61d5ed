// The real program on a home of its own, and a repository to work in.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const PATIENCE_MS = 30_000;

export const program = process.env.FORGE_PROGRAM ?? resolve(here, "../../target/debug/forge");

export class Forge {
  static async start() {
    const forge = new Forge();
    await forge.serve();
    return forge;
  }

  async serve() {
    this.server = spawn(program, ["serve", "--port", "0", "--stop-agents"], {
      env: this.env,
      cwd: this.dir,
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.log = "";
    this.server.stderr.on("data", (text) => (this.log += text));
    await this.until(() => this.port(), "the server did not start");
  }

  /** Waits for something that the server does; `complaint` is the error when it does not. */
  async until(holds, complaint) {
    const begun = Date.now();
    while (!holds()) {
      const over = Date.now() - begun > PATIENCE_MS || this.server.exitCode !== null;
      if (over) throw new Error(`${complaint}:\n${this.log}`);
      await new Promise((done) => setTimeout(done, 20));
    }
  }

  constructor() {
    this.dir = realpathSync(mkdtempSync(join(tmpdir(), "forge-mcp-")));
    this.env = {
      PATH: process.env.PATH,
      HOME: this.dir,
      TMPDIR: this.dir,
      FORGE_HOME: join(this.dir, "home"),
      FORGE_WORKTREE_DIR: join(this.dir, "worktrees"),
      DISABLE_BROWSER_OPEN: "1",
    };
  }

  port() {
    try {
      return readFileSync(join(this.dir, "home/port"), "utf8").trim();
    } catch {
      return "";
    }
  }

  url() {
    return new URL(`http://127.0.0.1:${this.port()}/mcp`);
  }

  /** A repository with one commit on `main`. */
  repository(name) {
    const path = join(this.dir, name);
    mkdirSync(path);
    const git = (...args) => execFileSync("git", ["-C", path, ...args], { env: this.env, encoding: "utf8" }).trim();
    git("init", "-q", "-b", "main");
    git("config", "user.name", "Tester");
    git("config", "user.email", "tester@localhost");
    writeFileSync(join(path, "README.md"), "# test\n");
    git("add", ".");
    git("commit", "-q", "-m", "Begin");
    return { path, git };
  }

  async stop() {
    if (this.server) {
      const gone = new Promise((done) => this.server.once("exit", done));
      this.server.kill("SIGTERM");
      await gone;
    }
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 5 });
  }
}
