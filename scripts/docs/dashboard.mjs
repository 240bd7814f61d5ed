// `npm run dashboard-picture`: opens the dashboard before a real server with a few workers, beads and attempts, and
// writes what the terminal showed to docs/dashboard.svg. Needs tmux and a debug build.
//
// Invariant: the terminal, the workers, the server and its folder are gone when it ends, and no path of the machine is
// left in the picture.

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

import { Forge } from "../lib/forge.mjs";
import { ROOT } from "../lib/root.mjs";
import { draw } from "./svg.mjs";
import { Terminal } from "./terminal.mjs";

const COLUMNS = 120;
const ROWS = 36;
const PICTURE = path.join(ROOT, "docs/dashboard.svg");
const SOCKET = `forge-picture-workers-${process.pid}`;

const BEADS = [
  { title: "Round prices to cents", priority: 0, issue_type: "bug" },
  { title: "Show prices with tax", priority: 1, issue_type: "feature", after: [0] },
  { title: "Sort the search by date", priority: 2, issue_type: "feature" },
  { title: "Describe the import", priority: 3, issue_type: "docs" },
  { title: "Answer slow requests from the cache", priority: 1, issue_type: "task" },
];

/** `bead`: its number above. A worker without one waits for a person. */
const WORKERS = [
  { id: "opus-1", model: "opus", tier: "premium", bead: 0, script: "exec sleep 600" },
  { id: "sonnet-1", model: "sonnet", tier: "standard", bead: 4, script: "exec sleep 600" },
  { id: "sonnet-2", model: "sonnet", tier: "standard", script: "exec sleep 600" },
  { id: "sonnet-3", model: "sonnet", tier: "standard", bead: 2, script: "exec sleep 600" },
  { id: "haiku-1", model: "haiku", tier: "budget", script: "exec sleep 600" },
  { id: "haiku-2", model: "haiku", tier: "budget", script: "exit 3" },
];

const TASKS = [
  { title: "Fix the login", description: "say I look at the tests first.\nsleep 600000" },
  { title: "Add a licence", description: "write LICENSE MIT\\n\nsay Done." },
];

class World {
  constructor() {
    this.forge = new Forge();
    fs.mkdirSync(this.forge.home, { recursive: true });
    fs.writeFileSync(path.join(this.forge.home, "config.json"), JSON.stringify({ fleet: { socket: SOCKET } }));
  }

  async ask(method, route, body) {
    const answer = await fetch(this.forge.base + route, {
      method,
      headers: { "content-type": "application/json" },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(60_000),
    });
    const { success, data, message } = await answer.json();
    if (!success) throw new Error(`${method} ${route}: ${message}`);
    return data;
  }

  async fill() {
    await this.forge.up();
    this.repo = this.forge.repository("shop");
    fs.mkdirSync(path.join(this.repo, ".beads"));
    const project = await this.ask("POST", "/api/projects", {
      name: "shop",
      git_repo_path: this.repo,
      use_existing_repo: true,
    });
    const ids = [];
    for (const { after = [], ...bead } of BEADS) {
      const depends_on = after.map((number) => ids[number]);
      ids.push((await this.ask("POST", "/api/beads", { project_id: project.id, depends_on, ...bead })).id);
    }
    for (const worker of WORKERS) await this.start(worker, ids, project.id);
    await this.ask("POST", "/api/workers/haiku-1/pause", { reason: "the till is closed on Sundays" });
    // Somebody else's, which the dashboard leaves alone.
    execFileSync("tmux", ["-L", SOCKET, "new-session", "-d", "-s", "claude-code-sonnet-bravo", "sleep 600"]);
    for (const task of TASKS) {
      await this.ask("POST", "/api/tasks/create-and-start", {
        task: { project_id: project.id, ...task },
        executor_profile_id: "SCRIPTED",
      });
    }
  }

  async start({ id, model, tier, bead, script }, ids, project_id) {
    const file = path.join(this.forge.dir, `${id}.sh`);
    fs.writeFileSync(file, `echo I am ${id}.\n${script}\n`);
    const order = {
      id,
      model,
      tier,
      launcher: "scripted",
      workspace: this.repo,
      env: { FORGE_SCRIPT: file, FORGE_MANAGED: "1" },
    };
    if (bead !== undefined) {
      order.bead = ids[bead];
      await this.ask("POST", `/api/beads/${ids[bead]}/claim`, { project_id, worker: id });
    }
    await this.ask("POST", "/api/workers", order);
  }

  async close() {
    for (const { id } of WORKERS) {
      await this.ask("POST", `/api/workers/${id}/kill`, {}).catch((error) => console.error(error.message));
    }
    try {
      execFileSync("tmux", ["-L", SOCKET, "kill-server"], { stdio: "ignore" });
    } catch {
      // It has ended with its last session.
    }
    await this.forge.close();
  }
}

/** What is of this machine becomes what is of everybody's; nothing after it moves. */
function anonymous(row, { forge, repo }) {
  const names = [
    [forge.base, "http://127.0.0.1:8887"],
    [repo, "~/shop"],
    [forge.dir, "~"],
  ];
  return names.reduce((text, [own, common]) => text.replaceAll(own, common.padEnd(own.length)), row);
}

async function main() {
  const world = new World();
  try {
    await world.fill();
    const program = [path.join(ROOT, "target/debug/forge"), "tui", "--theme", "dark"];
    const env = { ...process.env, FORGE_HOME: world.forge.home, FORGE_BACKEND_URL: world.forge.base, LANG: "C.UTF-8" };
    const terminal = new Terminal("picture", { dir: world.repo, env, columns: COLUMNS, rows: ROWS, program });
    try {
      terminal.press("5");
      const shown = (rows, id, word) => rows.some((row) => row.includes(id) && row.includes(word));
      await terminal.until(
        "the workers",
        (rows) => shown(rows, "haiku-2", "failed") && shown(rows, "sonnet-1", "healthy"),
      );
      await terminal.until("their memory", (rows) => rows.some((row) => row.includes("memory")));
      const rows = terminal.painted().map((row) => anonymous(row, world));
      fs.writeFileSync(PICTURE, draw(rows, COLUMNS));
      console.log(`wrote ${path.relative(ROOT, PICTURE)}`);
    } finally {
      terminal.end();
    }
  } finally {
    await world.close();
  }
}

await main();
