// `npm run release`: the checklist of a release, checked; then the package and the tag.
//
//   -- --dry-run   checks everything and makes no tag
//   -- --quick     with --dry-run: leaves out what takes minutes (tests and builds)
//
// Invariant: nothing is pushed or published; the last lines show how. No tag without every point checked.

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { ROOT } from "../lib/root.mjs";
import { findDrift, readVersion } from "./version.mjs";

function ask(root, command, ...args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: root, encoding: "utf8" });
  if (error || status !== 0) throw new Error(`${command} ${args.join(" ")} failed: ${error?.message ?? stderr.trim()}`);
  return stdout.trim();
}

/** The section of the changelog about a version, or nothing. */
function readChanges(root, version) {
  const sections = fs.readFileSync(path.join(root, "CHANGELOG.md"), "utf8").split(/^## /m).slice(1);
  return sections.find((section) => /^\S+/.exec(section)?.[0] === version);
}

/** Points that take no time: `{point, problem}`, without a problem where all is well. */
export function checkQuickly(root = ROOT) {
  const version = readVersion(root);
  const changes = readChanges(root, version);
  const dirty = ask(root, "git", "status", "--porcelain");
  return [
    { point: "the tree is clean", problem: dirty && `commit or remove first:\n${dirty}` },
    {
      point: `the tag v${version} is free`,
      problem:
        ask(root, "git", "tag", "--list", `v${version}`) &&
        "choose the next version: node scripts/release/version.mjs set <version>",
    },
    {
      point: `every package is ${version}`,
      problem:
        findDrift(root).length > 0 && `${findDrift(root).join("; ")}. Run: node scripts/release/version.mjs write`,
    },
    {
      point: `CHANGELOG.md describes ${version}`,
      problem: !changes?.includes("\n- ") && `give it a section '## ${version}' with what changed`,
    },
  ];
}

/** Points that are commands: `{point, command}`. */
export function listSlowChecks(root = ROOT) {
  const { scripts } = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"));
  const points = [
    { point: "the contract is that of the last release", command: ["npm", "run", "-s", "check-contract"] },
    { point: "all tests pass", command: ["npm", "test"] },
    { point: "the package is built", command: ["npm", "run", "-s", "build:npx"] },
    { point: "its program starts", command: ["node", "npx-cli/bin/cli.js", "--version"] },
    {
      point: "its program has the board",
      command: ["node", "scripts/release/check-board.mjs", "node", "npx-cli/bin/cli.js"],
    },
  ];
  return points.filter(({ command }) => command[0] !== "npm" || command.at(-1) in scripts);
}

function report(point, problem) {
  console.log(problem ? `NO  ${point}: ${problem}` : `ok  ${point}`);
}

function main() {
  const options = { "dry-run": { type: "boolean" }, quick: { type: "boolean" } };
  const { values: given } = parseArgs({ options });
  if (given.quick && !given["dry-run"]) throw new Error("--quick is for --dry-run: a release checks everything");
  const points = checkQuickly();
  for (const { point, problem } of points) report(point, problem);
  if (points.some(({ problem }) => problem)) throw new Error("not ready; nothing was tagged");

  for (const { point, command } of listSlowChecks()) {
    if (given.quick) {
      console.log(`--  ${point}: not checked (${command.join(" ")})`);
      continue;
    }
    const { status } = spawnSync(command[0], command.slice(1), { cwd: ROOT, stdio: "inherit" });
    report(point, status !== 0 && `'${command.join(" ")}' failed`);
    if (status !== 0) throw new Error("not ready; nothing was tagged");
  }
  if (given["dry-run"]) return console.log("Nothing was tagged: this was a dry run.");

  const tag = `v${readVersion()}`;
  const [{ filename }] = JSON.parse(ask(ROOT, "npm", "pack", "./npx-cli", "--json"));
  ask(ROOT, "git", "tag", "--annotate", tag, "--message", `Forge ${readVersion()}`);
  console.log(`Tagged ${tag} and packed ${filename}. Next, when you are sure:`);
  return console.log(`  git push origin ${tag}\n  npm publish ${filename} --access public`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    main();
  } catch (error) {
    console.error(`release: ${error.message}`);
    process.exit(1);
  }
}
