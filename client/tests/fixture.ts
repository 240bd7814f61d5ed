// What the tests of the client share: a server with one project, and waiting for an agent.
import { setTimeout as pause } from "node:timers/promises";
import { type ExecutionProcess, ForgeClient } from "@forge/client";
import { Forge } from "../../scripts/lib/forge.mjs";
import { readNodeFrames } from "../dist/node-socket.js";

const PATIENCE_MS = 60_000;

export interface World {
  forge: Forge;
  client: ForgeClient;
  project: string;
  repo: string;
}

export async function makeWorld(): Promise<World> {
  const forge = await Forge.start();
  const client = new ForgeClient(`${forge.base}/`);
  const repo = forge.repository("demo");
  const made = await client.createProject({ name: "demo", git_repo_path: repo, use_existing_repo: true });
  return { forge, client, project: made.id, repo };
}

/** Starts a task whose agent does what the script says. */
export async function start({ client, project }: World, script: string) {
  const task = { project_id: project, title: "say begin", description: script };
  const started = await client.createAndStartTask({ task, executor_profile_id: "SCRIPTED" });
  const attempt = started.task_attempt.id;
  const process = await until("a process", async () => (await client.listExecutionProcesses(attempt)).at(-1));
  return { task: started.id, attempt, process: process.id };
}

export async function ended({ client }: World, attempt: string): Promise<ExecutionProcess> {
  return until("the end of the process", async () => {
    const last = (await client.listExecutionProcesses(attempt)).at(-1);
    return last && last.status !== "running" ? last : undefined;
  });
}

export async function until<T>(what: string, look: () => Promise<T | undefined> | T | undefined): Promise<T> {
  for (const begun = Date.now(); Date.now() - begun < PATIENCE_MS; await pause(20)) {
    const found = await look();
    if (found !== undefined) return found;
  }
  throw new Error(`waited in vain for ${what}`);
}

/** The error of a call that must fail. */
export async function failure(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => Promise.reject(new Error("it was allowed")),
    (error: unknown) => error,
  );
}

/** The platform's form of a WebSocket, over this package's own one. */
export class Borrowed {
  static delivered = 0;
  onmessage: ((message: { data: string }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  readonly #end = new AbortController();

  constructor(url: string) {
    void this.#run(new URL(url.replace(/^ws/, "http")));
  }

  close(): void {
    this.#end.abort();
  }

  async #run(url: URL): Promise<void> {
    const frames = readNodeFrames(url, {}, this.#end.signal);
    let next = await frames.next();
    for (; !next.done; next = await frames.next()) {
      Borrowed.delivered++;
      this.onmessage?.({ data: next.value });
    }
    this.onclose?.({ code: next.value });
  }
}
