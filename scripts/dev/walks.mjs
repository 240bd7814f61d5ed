// `npm run walks`: adds an agent, a task field, a command and an alert to a copy of the last commit, one after the
// other. Prints how many files each one touches, and fails when one no longer compiles.
//
//   npm run walks -- agent alert   only these
//
// The edits are in walks/, one file per walk; CONTRIBUTING.md lists the same steps for people. The copy is in the folder
// that cargo builds into (CARGO_TARGET_DIR, else target) and has its own build there: cargo takes crates at the same path
// in two workspaces for the same one. A second run compiles only what changed.

import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

import { ROOT } from "../lib/root.mjs";
import agent from "./walks/agent.mjs";
import alert from "./walks/alert.mjs";
import command from "./walks/command.mjs";
import taskField from "./walks/task-field.mjs";

const WALKS = { agent, "task-field": taskField, command, alert };
const PLACE = path.resolve(ROOT, process.env.CARGO_TARGET_DIR ?? "target", "walks");
const COPY = path.join(PLACE, "source");

const git = (...args) => execFileSync("git", ["-C", COPY, ...args], { encoding: "utf8" });

/** The last commit, without anything that an earlier walk left. */
function refresh() {
  execFileSync("git", ["init", "--quiet", COPY]);
  git("fetch", "--quiet", "--depth=1", ROOT, "HEAD");
  git("checkout", "--quiet", "--force", "--detach", "FETCH_HEAD");
  git("clean", "--quiet", "--force", "-d");
}

/** The files below a folder that have the text, or the file itself. */
function holding(anchor, place) {
  const found = spawnSync("git", ["-C", COPY, "grep", "--files-with-matches", "--fixed-strings", anchor, "--", place]);
  const files = String(found.stdout).split("\n").filter(Boolean);
  if (files.length === 0) throw new Error(`${place} has no ${JSON.stringify(anchor)} any more`);
  return files.map((file) => path.join(COPY, file));
}

/**
 * One edit: `create` a file, or put `text` `after` every line that has a text, or in its place (`replace`). `file` may be
 * a folder: the edit is then made in each file that has the text.
 */
function apply({ file, create, after, replace, text }) {
  if (create) return fs.writeFileSync(path.join(COPY, file), create);
  for (const place of holding((after ?? replace).split("\n")[0], file)) {
    const before = fs.readFileSync(place, "utf8");
    const added = () => before.split("\n").flatMap((line) => (line.includes(after) ? [line, text] : [line]));
    const edited = after ? added().join("\n") : before.replaceAll(replace, text);
    if (edited === before) throw new Error(`${file} has no ${JSON.stringify(replace)} any more`);
    fs.writeFileSync(place, edited);
  }
}

function walk({ title, goal, edits }) {
  refresh();
  for (const edit of edits) apply(edit);
  git("add", "--all", "--intent-to-add");
  const touched = git("diff", "--name-only").split("\n").filter(Boolean);
  const rust = touched.filter((file) => file.endsWith(".rs"));
  const env = { ...process.env, CARGO_TARGET_DIR: path.join(PLACE, "build"), FORGE_PAGE: "off" };
  const args = ["check", "--quiet", "--offline", "--workspace", "--all-targets"];
  const { status, signal, error } = spawnSync("cargo", args, { cwd: COPY, env, stdio: "inherit" });
  if (status !== 0)
    throw new Error(error?.message ?? (signal ? `cargo was ended by ${signal}` : "it does not compile"));
  console.log(`${title.padEnd(14)} ${touched.length} files, ${rust.length} of them Rust; goal: ${goal}`);
  for (const file of touched) console.log(`  ${file}`);
}

const names = process.argv.slice(2);
const unknown = names.find((name) => !(name in WALKS));
if (unknown) throw new Error(`'${unknown}' is not a walk; allowed: ${Object.keys(WALKS).join(", ")}`);
for (const [name, steps] of Object.entries(WALKS)) {
  if (names.length > 0 && !names.includes(name)) continue;
  try {
    walk(steps);
  } catch (error) {
    console.error(`${steps.title}: ${error.message}. See scripts/dev/walks/${name}.mjs`);
    process.exitCode = 1;
  }
}
