// Tests with real agent programs: installs the pinned programs, then runs tests/tests/agents and shows its table.
//
// Programs are kept in FORGE_AGENTS_CACHE (else ${XDG_CACHE_HOME:-~/.cache}/forge-agents) as
// <name>-<version>/node_modules/.bin/<program>. The gate agents are installed when they are missing; the others are used
// when they are there, and installed when FORGE_AGENTS_ALL=1 asks for it. Words on the command line choose agents and cases:
// `npm run test:agents -- claude stop`.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

import { ROOT } from "../lib/root.mjs";

const INSTALL_LIMIT_MS = 15 * 60_000;
const VERSION_LIMIT_MS = 60_000;

const AGENTS = [
  { name: "claude", version: "2.1.197", package: "@anthropic-ai/claude-code", gate: true },
  { name: "codex", version: "0.166.0", package: "@openai/codex", gate: true },
  { name: "copilot", version: "1.0.102", package: "@github/copilot", gate: true },
  { name: "gemini", version: "0.61.0", package: "@google/gemini-cli", gate: false },
  { name: "qwen", version: "0.15.10", package: "@qwen-code/qwen-code", gate: false },
  { name: "opencode", version: "1.18.33", package: "opencode-ai", gate: false },
  { name: "droid", version: "0.215.0", package: "droid", gate: false },
];

// Keys, addresses and settings of the user's own agents must not reach the ones under test.
const FOREIGN = /^(ANTHROPIC|CLAUDE|OPENAI|CODEX|COPILOT|GEMINI|GOOGLE|QWEN|DASHSCOPE|OPENCODE|FACTORY|GH|GITHUB)_/;

const cache =
  process.env.FORGE_AGENTS_CACHE || join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "forge-agents");
const words = process.argv.slice(2);
const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !FOREIGN.test(name)));

const folderOf = (agent) => join(cache, `${agent.name}-${agent.version}`);
const programOf = (folder, agent) => join(folder, "node_modules", ".bin", agent.name);

/** What is wrong with the program in that folder, or nothing. */
function fault(folder, agent) {
  const program = programOf(folder, agent);
  if (!existsSync(program)) return `${program} does not exist`;
  // Even this writes to the home directory.
  const home = mkdtempSync(join(tmpdir(), "forge-agent-"));
  try {
    const env = {
      ...clean,
      HOME: home,
      XDG_CONFIG_HOME: home,
      XDG_CACHE_HOME: home,
      XDG_DATA_HOME: home,
      XDG_STATE_HOME: home,
    };
    Object.assign(env, {
      CLAUDE_CONFIG_DIR: home,
      CODEX_HOME: home,
      DISABLE_AUTOUPDATER: "1",
      COPILOT_OFFLINE: "true",
    });
    const run = spawnSync(program, ["--version"], { env, cwd: home, encoding: "utf8", timeout: VERSION_LIMIT_MS });
    if (run.error) return `${program} --version: ${run.error.message}`;
    const output = `${run.stdout}${run.stderr}`.trim();
    if (run.status !== 0) return `${program} --version ended with ${run.status ?? run.signal}: ${output.slice(0, 300)}`;
    const numbers = output.match(/\d+\.\d+\.\d+/g) ?? [];
    return numbers.includes(agent.version) ? null : `${program} is ${output.split("\n")[0]}, not ${agent.version}`;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Installs beside the place and moves it there when it works, so that a broken install is never taken for a program. */
function install(agent) {
  const spec = `${agent.package}@${agent.version}`;
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, `.${agent.name}-`));
  try {
    console.log(`installing ${spec} into ${folderOf(agent)}`);
    writeFileSync(join(folder, "package.json"), '{"private": true}\n');
    const args = ["install", "--no-audit", "--no-fund", "--no-progress", "--loglevel=error", "--save-exact", spec];
    const run = spawnSync("npm", args, { cwd: folder, stdio: "inherit", timeout: INSTALL_LIMIT_MS });
    if (run.error || run.status !== 0) {
      return `\`npm install ${spec}\` failed: ${run.error?.message ?? `it ended with ${run.status ?? run.signal}`}`;
    }
    const wrong = fault(folder, agent);
    if (wrong) return `npm installed something else or left the platform's package out: ${wrong}`;
    rmSync(folderOf(agent), { recursive: true, force: true });
    renameSync(folder, folderOf(agent));
    return null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const wanted = (agent) => !words.some((word) => AGENTS.some(({ name }) => name === word)) || words.includes(agent.name);
let missing = 0;
for (const agent of AGENTS.filter(wanted)) {
  const present = existsSync(folderOf(agent));
  if (!present && !agent.gate && process.env.FORGE_AGENTS_ALL !== "1") continue;
  let wrong = fault(folderOf(agent), agent);
  if (wrong) wrong = install(agent);
  if (wrong) {
    console.error(`${agent.name} ${agent.version} is missing: ${wrong}`);
    missing += 1;
  }
}

const cargo = (args, env) => execFileSync("cargo", args, { cwd: ROOT, env, stdio: "inherit" });
try {
  cargo(["build", "--quiet", "-p", "forge", "-p", "forge-tests", "--bins"], process.env);
  const env = { ...clean, FORGE_AGENTS_CACHE: cache };
  cargo(["test", "--quiet", "-p", "forge-tests", "--test", "agents", "--", "--ignored", ...words], env);
} catch (error) {
  process.exit(error.status || 1);
}
process.exit(missing ? 1 : 0);
