// `npm run tour`: types the commands of the tour at a real terminal, before a real server with the built-in agent, and
// writes what the terminal showed to docs/guide/tour.md. Needs tmux and a debug build.
//
// Invariant: the terminal, the server and the folder of the tour are gone when it ends, and no path of the machine is
// left in the page.

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ROOT } from "../lib/root.mjs";
import { Terminal } from "./terminal.mjs";

const COLUMNS = 96;
const ROWS = 70;
const BUILT = path.join(ROOT, "target/debug");
const PAGE = path.join(ROOT, "docs/guide/tour.md");

const script = (...lines) => `${lines.join("\n")}\n`;
const FILES = {
  "login.js": script("export function login(user) {", "  return user.name == 'admin';", "}"),
  "fix-login.txt": script(
    "Fix the login",
    "think The comparison is loose; === is meant.",
    "say I make the comparison strict and add a test.",
    "write login.js export function login(user) {\\n  return user.name === 'admin';\\n}\\n",
    "sleep 3000",
    "write login.test.js import { login } from './login.js';\\nconsole.assert(login({ name: 'admin' }));\\n",
    "run ls *.js && echo ok",
    "say The login compares strictly now, and a test holds it.",
  ),
  "tasks.md": ["Add a licence", "Write a changelog", "Greet in French", "Count the lines"]
    .map((title, n) =>
      script(title, `say I begin with: ${title}.`, `sleep ${1500 + 1000 * n}`, `write part-${n}.txt ${title}\\n`),
    )
    .join("---\n"),
};

/** `during`: the terminal is shown as it is after so many milliseconds, before it is shown as it is at the end. */
const STEPS = [
  { text: "## What is installed, and what is missing", command: "forge doctor" },
  {
    text: "## Watch one task\n\nThe first command starts a server by itself. This picture is taken while the agent works; the last\nrow is the status.",
    command: "forge run -x SCRIPTED -f fix-login.txt",
    during: 2500,
    afterwards: "When it is done:",
  },
  { text: "## List the attempts", command: "forge list" },
  { text: "## View the same attempt again, from the server", command: "forge view @last" },
  { text: "## See what it changed, and land it", command: "forge diff @last | cat && forge merge @last" },
  {
    text: "## Many tasks at once\n\nIn `tasks.md`, lines of `---` separate the tasks. After two seconds:",
    command: "forge batch tasks.md -x SCRIPTED",
    during: 2400,
    afterwards: "At the end:",
  },
  { text: "## See the status", command: "forge status" },
];

const HEAD = `# A tour in pictures

What a terminal of ${COLUMNS} columns showed when \`npm run tour\` typed these commands. The agent is
\`SCRIPTED\`, the built-in one that does what its prompt says word for word, so the tour needs no
account; with \`-x CLAUDE_CODE\` or any other it looks the same.
`;

async function shoot(terminal, step) {
  terminal.type("clear");
  await terminal.idle();
  terminal.type(step.command);
  const parts = [step.text];
  if (step.during) {
    await pause(step.during);
    parts.push(picture(terminal.rows()), step.afterwards);
  }
  // The shell echoes the command before it runs it.
  await pause(300);
  await terminal.idle();
  return [...parts, picture(terminal.rows().slice(0, -1))].join("\n\n");
}

const picture = (rows) => ["```text", ...rows, "```"].join("\n");

async function main() {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "forge-tour-")));
  const repo = path.join(root, "shop");
  fs.mkdirSync(repo);
  for (const [name, text] of Object.entries(FILES)) fs.writeFileSync(path.join(repo, name), text);
  const identity = ["-c", "user.name=Tour", "-c", "user.email=tour@example.com"];
  const git = (...args) => execFileSync("git", ["-C", repo, ...identity, ...args]);
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("commit", "-q", "-m", "The shop");
  const env = {
    HOME: root,
    FORGE_HOME: path.join(root, ".forge"),
    FORGE_WORKTREE_DIR: path.join(root, "worktrees"),
    DISABLE_BROWSER_OPEN: "1",
    PORT: "8887",
    PATH: `${BUILT}:${process.env.PATH}`,
    PS1: "$ ",
    HISTFILE: "/dev/null",
    LANG: "C.UTF-8",
  };
  const terminal = new Terminal("tour", { dir: repo, env, columns: COLUMNS, rows: ROWS });
  try {
    await terminal.idle();
    const shots = [];
    for (const step of STEPS) shots.push(await shoot(terminal, step));
    const page = `${HEAD}\n${shots.join("\n\n")}\n`.replaceAll(root, "~");
    fs.writeFileSync(PAGE, page);
    console.log(`wrote ${path.relative(ROOT, PAGE)}`);
  } finally {
    execFileSync(path.join(BUILT, "forge"), ["serve", "--stop"], { env: { ...process.env, ...env }, stdio: "ignore" });
    terminal.end();
    fs.rmSync(root, { recursive: true, force: true });
  }
}

await main();
