import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { checkQuickly, listSlowChecks } from "../release/release.mjs";
import { setVersion } from "../release/version.mjs";
import { ROOT, run, tempFolder } from "./fixture.mjs";

const AUTHOR = [
  "-c",
  "user.name=a",
  "-c",
  "user.email=a@example.org",
  "-c",
  "commit.gpgsign=false",
  "-c",
  "tag.gpgsign=false",
];

/** A workspace that is ready for the release of 7.1.0. */
async function workspace(t) {
  const root = fs.realpathSync(tempFolder(t));
  const git = async (...args) => {
    const { code, stderr } = await run(t, "git", [...AUTHOR, ...args], { cwd: root });
    assert.equal(code, 0, stderr);
  };
  for (const name of ["scripts", "Cargo.toml", "package.json", "npx-cli/package.json", ".gitignore"]) {
    fs.cpSync(path.join(ROOT, name), path.join(root, name), { recursive: true });
  }
  setVersion("7.1.0", root);
  fs.writeFileSync(
    path.join(root, "CHANGELOG.md"),
    "# Changelog\n\n## 7.1.0 (today)\n\n- More.\n\n## 7.0.0\n\n- Some.\n",
  );
  await git("init", "-q");
  await git("add", "-A");
  await git("commit", "-qm", "all");
  return { root, git };
}

const problems = (root) =>
  checkQuickly(root)
    .filter(({ problem }) => problem)
    .map(({ point }) => point);

test("a workspace that is ready passes a dry run, which tags nothing", async (t) => {
  const { root } = await workspace(t);
  assert.deepEqual(problems(root), []);
  const dry = await run(t, "node", ["scripts/release/release.mjs", "--dry-run", "--quick"], { cwd: root });
  assert.equal(dry.code, 0, dry.stderr);
  for (const words of ["ok  the tree is clean", "npm test", "build:npx", "Nothing was tagged"])
    assert.ok(dry.stdout.includes(words), words);
  const tags = await run(t, "git", ["tag", "--list"], { cwd: root });
  assert.equal(tags.stdout, "");
});

test("each point of the list stops a release", async (t) => {
  const { root, git } = await workspace(t);
  fs.writeFileSync(path.join(root, "left.txt"), "over");
  assert.deepEqual(problems(root), ["the tree is clean"]);
  fs.rmSync(path.join(root, "left.txt"));

  await git("tag", "v7.1.0");
  assert.deepEqual(problems(root), ["the tag v7.1.0 is free"]);
  await git("tag", "--delete", "v7.1.0");

  const changelog = path.join(root, "CHANGELOG.md");
  for (const text of [
    "# Changelog\n\n## Unreleased\n\n- More.\n",
    "# Changelog\n\n## 7.1.0\n\n## 7.0.0\n\n- Some.\n",
  ]) {
    fs.writeFileSync(changelog, text);
    await git("commit", "-qam", "changelog");
    assert.deepEqual(problems(root), ["CHANGELOG.md describes 7.1.0"]);
  }
  await git("checkout", "-q", "HEAD~2", "--", "CHANGELOG.md");
  const file = path.join(root, "npx-cli", "package.json");
  fs.writeFileSync(file, fs.readFileSync(file, "utf8").replace("7.1.0", "7.0.9"));
  await git("commit", "-qam", "drift");
  assert.deepEqual(problems(root), ["every package is 7.1.0"]);
  const stopped = await run(t, "node", ["scripts/release/release.mjs", "--dry-run"], { cwd: root });
  assert.equal(stopped.code, 1);
  assert.match(stopped.stdout, /NO {2}every package is 7\.1\.0: npx-cli\/package\.json says 7\.0\.9/);
});

test("a real release cannot be quick, and tests and builds before it tags", async (t) => {
  const { root } = await workspace(t);
  const refused = await run(t, "node", ["scripts/release/release.mjs", "--quick"], { cwd: root });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /--quick is for --dry-run/);
  const commands = listSlowChecks().map(({ command }) => command.join(" "));
  assert.ok(commands.includes("npm test") && commands.includes("npm run -s build:npx"), commands.join(", "));
  assert.ok(commands.at(-1).startsWith("node scripts/release/check-board.mjs"), commands.join(", "));
});
