// A real server with a home, a worktree base and repositories of its own in a temporary folder.
// Invariant: when it is closed, so is every process it caused (by pid), and its folder is gone.
import { execFileSync, spawn } from "node:child_process";
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ROOT } from "./root.mjs";

const PATIENCE_MS = 60_000;
/** What the surroundings of whoever runs this must not decide. */
const FOREIGN =
  /^(FORGE_|XDG_|GIT_|GH_|GITHUB_|GITLAB_|GITEA_|FORGEJO_|(BACKEND_)?PORT$|HOST$|DATABASE_URL$|PUBLIC_BASE_URL$|AUTH_REQUIRED$)/;

export class Forge {
  #server;
  #args;
  #program;

  /** `program` is the command that starts Forge; by default that of this source folder. */
  constructor(args = [], program = [join(ROOT, "target/debug/forge")]) {
    this.#args = args;
    this.#program = program;
    this.dir = realpathSync(mkdtempSync(join(tmpdir(), "forge-")));
    this.home = join(this.dir, "home");
    this.base = "";
  }

  /** A running server on a free loopback port. */
  static async start(args = [], program = undefined) {
    const forge = new Forge(args, program);
    await forge.up();
    return forge;
  }

  /** Starts the server, again if need be, on the same home; `port` 0 takes any free one. */
  async up(port = 0) {
    rmSync(join(this.home, "port"), { force: true });
    const [exe, ...words] = this.#program;
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !FOREIGN.test(name)));
    const log = openSync(join(this.dir, "log"), "a");
    this.#server = spawn(exe, [...words, "serve", "--port", String(port), ...this.#args], {
      cwd: this.dir,
      env: {
        ...env,
        FORGE_HOME: this.home,
        FORGE_WORKTREE_DIR: join(this.dir, "worktrees"),
        GH_CONFIG_DIR: join(this.dir, "gh"),
        DISABLE_BROWSER_OPEN: "1",
        HOME: this.dir,
        TMPDIR: this.dir,
      },
      stdio: ["ignore", log, log],
    });
    // Also when whoever uses this ends without closing it.
    const server = this.#server;
    const kill = () => server.kill("SIGKILL");
    process.once("exit", kill);
    server.once("exit", () => process.off("exit", kill));
    closeSync(log);
    let problem = "";
    server.once("error", (error) => (problem = `${error.message}; build it with: cargo build -p forge`));
    for (const begun = Date.now(); !problem && this.#server.exitCode === null && Date.now() - begun < PATIENCE_MS; ) {
      const found = this.#read("home/port").trim();
      if (found) {
        this.base = `http://127.0.0.1:${found}`;
        return;
      }
      await pause(10);
    }
    throw new Error(`the server did not start: ${problem}\n${this.log()}`);
  }

  /** What the server wrote so far. */
  log() {
    return this.#read("log");
  }

  /** `kill -9`, as a crash would. */
  async crash() {
    await this.#end("SIGKILL");
  }

  /** A git repository with one commit on `main`. */
  repository(name) {
    const path = join(this.dir, name);
    mkdirSync(path);
    writeFileSync(join(path, "README.md"), "# demo\n");
    execFileSync("git", ["init", "-q", "-b", "main"], { cwd: path, timeout: PATIENCE_MS });
    this.commit(path, "first");
    return path;
  }

  /** Commits everything that is in a repository. */
  commit(path, message) {
    const who = ["-c", "user.name=Test", "-c", "user.email=test@example.org"];
    for (const args of [
      ["add", "."],
      [...who, "commit", "-q", "-m", message],
    ]) {
      execFileSync("git", args, { cwd: path, timeout: PATIENCE_MS });
    }
  }

  async close() {
    await this.#end("SIGTERM");
    for (const pid of this.#keepers()) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It ended by itself.
      }
    }
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }

  async #end(signal) {
    const server = this.#server;
    if (server && server.exitCode === null && server.signalCode === null && server.pid) {
      const gone = new Promise((done) => server.once("exit", done));
      server.kill(signal);
      await gone;
    }
  }

  /** Keepers of this home: their command line names its folder. */
  #keepers() {
    const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return pids.map(Number).filter((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
        return words.includes("keep") && words.some((word) => word.startsWith(`${this.home}/`));
      } catch {
        return false;
      }
    });
  }

  #read(name) {
    try {
      return readFileSync(join(this.dir, name), "utf8");
    } catch {
      return "";
    }
  }
}
