import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { findDrift, readPackages, readVersion, setVersion, writePackages } from "../release/version.mjs";
import { ROOT, tempFolder } from "./fixture.mjs";

function workspace(t) {
  const root = tempFolder(t);
  for (const file of ["Cargo.toml", "package.json", "npx-cli/package.json"]) {
    fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    fs.copyFileSync(path.join(ROOT, file), path.join(root, file));
  }
  return root;
}

test("every package of this repository has the version of Cargo.toml", () => {
  assert.ok(readPackages().some(({ file }) => file === "npx-cli/package.json"));
  assert.deepEqual(findDrift(), []);
  const root = JSON.parse(fs.readFileSync(path.join(ROOT, "package.json"), "utf8"));
  assert.equal(
    root.version,
    undefined,
    "the workspace itself is not published; a number there would be a second place",
  );
});

test("pnpm, which warns of a workspace that it does not know, knows the packages of npm", () => {
  const { workspaces } = JSON.parse(fs.readFileSync(path.join(ROOT, "package.json"), "utf8"));
  const listed = fs.readFileSync(path.join(ROOT, "pnpm-workspace.yaml"), "utf8").matchAll(/^ {2}- (.+)$/gm);
  assert.deepEqual(
    [...listed].map(([, name]) => name),
    workspaces,
  );
});

test("a package out of step is found and brought back, and nothing else in it changes", (t) => {
  const root = workspace(t);
  const file = path.join(root, "npx-cli", "package.json");
  const before = fs.readFileSync(file, "utf8");
  fs.writeFileSync(file, before.replace(`"version": "${readVersion()}"`, '"version": "9.9.9"'));
  assert.deepEqual(findDrift(root), [`npx-cli/package.json says 9.9.9, Cargo.toml says ${readVersion()}`]);
  writePackages(root);
  assert.equal(fs.readFileSync(file, "utf8"), before);
});

test("a new version is set in one place and followed everywhere", (t) => {
  const root = workspace(t);
  setVersion("12.3.4-rc.1", root);
  assert.equal(readVersion(root), "12.3.4-rc.1");
  assert.deepEqual(findDrift(root), []);
  assert.match(fs.readFileSync(path.join(root, "Cargo.toml"), "utf8"), /rust-version = "1\.95"/);
  assert.throws(() => setVersion("twelve", root), /'twelve' is not a version/);
});
