// What the tests of the page share: a real server with a repository, and a page that must stay free of errors.
// Invariant: a test fails when the page logs an error, throws, or breaks its Content-Security-Policy, whatever else it checks.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { ForgeClient, type ProfileChoice, type StartedTask } from "@forge/client";
import { test as base, expect, type Page } from "@playwright/test";
import { Forge } from "../../scripts/lib/forge.mjs";

export { expect };

const TARGET = resolve(import.meta.dirname, "../../target/debug");
export const FAKE_CLAUDE = join(TARGET, "fake-claude");

export class World {
  readonly forge: Forge;
  client!: ForgeClient;
  projectId = "";
  repository = "";

  constructor(args: string[] = []) {
    this.forge = new Forge(args);
  }

  /** Settings are those of `config.json`; `env` is added to the variables of the server. */
  async up(settings: object = {}, env: Record<string, string> = {}): Promise<void> {
    mkdirSync(this.forge.home, { recursive: true });
    writeFileSync(join(this.forge.home, "config.json"), JSON.stringify(settings));
    const before = process.env;
    process.env = { ...before, ...env };
    try {
      await this.forge.up();
    } finally {
      process.env = before;
    }
    this.client = new ForgeClient(this.forge.base);
  }

  /** `kill -9`, and the server again at the same address. */
  async restart(meanwhile: () => Promise<void> = async () => {}): Promise<void> {
    const port = Number(new URL(this.base).port);
    await this.forge.crash();
    await meanwhile();
    await this.forge.up(port);
  }

  get base(): string {
    return this.forge.base;
  }

  async addProject(name = "Shop"): Promise<string> {
    this.repository = this.forge.repository(name.toLowerCase());
    const made = { name, git_repo_path: this.repository, use_existing_repo: true };
    this.projectId = (await this.client.createProject(made)).id;
    return this.projectId;
  }

  /** A line for a script, which continues once the same name is allowed. */
  gate(name: string): string {
    return `run until [ -e ${join(this.forge.dir, name)} ]; do sleep 0.05; done`;
  }

  allow(name: string): void {
    writeFileSync(join(this.forge.dir, name), "");
  }

  /** A task whose agent does what `script` says. */
  start(title: string, script: string, agent: ProfileChoice = "SCRIPTED"): Promise<StartedTask> {
    const task = { project_id: this.projectId, title, description: script };
    return this.client.createAndStartTask({ task, executor_profile_id: agent });
  }

  /** A task whose agent has done what `script` says. */
  async finish(title: string, script: string): Promise<StartedTask> {
    const started = await this.start(title, script);
    await this.settled(started.task_attempt.id);
    return started;
  }

  async settled(attemptId: string): Promise<void> {
    const status = async (): Promise<string> => (await this.client.getTaskAttempt(attemptId)).status;
    await expect.poll(status, { timeout: 60_000 }).not.toMatch(/pending|running/);
  }

  /** An agent that asks before it acts; the prompt is its script (`FAKE: approve=1 …`). */
  async useAskingAgent(): Promise<ProfileChoice> {
    const options = { approvals: true, base_command_override: FAKE_CLAUDE };
    await this.client.updateExecutorProfiles({ executors: { CLAUDE_CODE: { APPROVALS: { CLAUDE_CODE: options } } } });
    return "CLAUDE_CODE:APPROVALS";
  }

  attemptUrl({ task_attempt, task }: StartedTask, view?: string): string {
    const path = `/projects/${this.projectId}/tasks/${task.id}/attempts/${task_attempt.id}`;
    return view ? `${path}?view=${view}` : path;
  }

  boardUrl(): string {
    return `/projects/${this.projectId}/tasks`;
  }
}

interface CodeHost {
  remote: string;
  bare: string;
  settings: object;
  close: () => void;
}

/** A code host of this machine; `close` ends it. */
async function startCodeHost(): Promise<CodeHost> {
  const host = spawn(join(TARGET, "code-host"), { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = (await once(createInterface({ input: host.stdout }), "line")) as [string];
  const place = JSON.parse(line) as Omit<CodeHost, "close">;
  return { ...place, close: () => host.stdin.end() };
}

/** A project whose remote is the code host. */
async function publish(world: World, host: CodeHost): Promise<void> {
  await world.addProject();
  const git = (...args: string[]) => execFileSync("git", args, { cwd: world.repository });
  git("push", "-q", host.bare, "main");
  git("remote", "add", "origin", host.remote);
}

/** Errors that a test expects, because it takes the server away. */
export const OUT_OF_REACH =
  /ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET|WebSocket connection to/;

interface Options {
  /** Of the server's command line. */
  serverArgs: string[];
  /** The project's remote is a code host of this machine. */
  codeHost: boolean;
}

interface Fixtures {
  world: World;
  /** Errors of the page that are no failure of the test. */
  forgiven: RegExp[];
}

export const test = base.extend<Fixtures & Options>({
  serverArgs: [[], { option: true }],
  codeHost: [false, { option: true }],
  forgiven: async ({}, use) => {
    await use([]);
  },
  world: async ({ serverArgs, codeHost }, use) => {
    const world = new World(serverArgs);
    const host = codeHost ? await startCodeHost() : undefined;
    await world.up(host && { ...host.settings, github: { pat: "a-token" } });
    if (host) await publish(world, host);
    await use(world);
    await world.forge.close();
    host?.close();
  },
  baseURL: async ({ world }, use) => {
    await use(world.base);
  },
  page: async ({ page, forgiven }, use) => {
    const errors: string[] = [];
    watch(page, errors);
    await use(page);
    expect(errors.filter((error) => !forgiven.some((pattern) => pattern.test(error)))).toEqual([]);
  },
});

function watch(page: Page, errors: string[]): void {
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(`${message.text()} ${message.location().url}`);
  });
}
