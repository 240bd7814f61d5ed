// The version of everything is `workspace.package.version` in Cargo.toml. Packages in the folders of the workspace follow.
//
//   node scripts/release/version.mjs            prints it
//   node scripts/release/version.mjs check      fails when a package is out of step
//   node scripts/release/version.mjs write      brings packages in step
//   node scripts/release/version.mjs set 1.2.3  changes it, and brings packages and Cargo.lock in step

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { ROOT } from "../lib/root.mjs";

const IN_CARGO = /(\[workspace\.package\][^[]*?\nversion = ")([^"]+)(")/;
const IN_PACKAGE = /("version":\s*")([^"]*)(")/;
const SHAPE = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;

export function readVersion(root = ROOT) {
  const found = IN_CARGO.exec(fs.readFileSync(path.join(root, "Cargo.toml"), "utf8"));
  if (found === null) throw new Error("Cargo.toml: [workspace.package] has no version");
  return found[2];
}

/** `{file, version}` of every package that has a version. */
export function readPackages(root = ROOT) {
  const folders = fs.readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const files = folders.map(({ name }) => path.join(name, "package.json")).sort();
  return files
    .filter((file) => fs.existsSync(path.join(root, file)))
    .map((file) => ({ file, version: JSON.parse(fs.readFileSync(path.join(root, file), "utf8")).version }))
    .filter(({ version }) => version !== undefined);
}

/** What is out of step, a line each. */
export function findDrift(root = ROOT) {
  const version = readVersion(root);
  return readPackages(root)
    .filter((found) => found.version !== version)
    .map((found) => `${found.file} says ${found.version}, Cargo.toml says ${version}`);
}

export function writePackages(root = ROOT) {
  const version = readVersion(root);
  for (const { file } of readPackages(root)) replace(path.join(root, file), IN_PACKAGE, version);
}

export function setVersion(version, root = ROOT) {
  if (!SHAPE.test(version)) throw new Error(`'${version}' is not a version; give one like 1.2.3 or 1.2.3-rc.1`);
  replace(path.join(root, "Cargo.toml"), IN_CARGO, version);
  writePackages(root);
}

// Only the number changes: the file keeps its form.
function replace(file, pattern, version) {
  const text = fs.readFileSync(file, "utf8");
  fs.writeFileSync(
    file,
    text.replace(pattern, (_, before, __, after) => before + version + after),
  );
}

function main([verb, version]) {
  switch (verb) {
    case undefined:
      return console.log(readVersion());
    case "check": {
      const drift = findDrift();
      if (drift.length > 0) throw new Error(`${drift.join("; ")}. Run: node scripts/release/version.mjs write`);
      return console.log(`every package is ${readVersion()}`);
    }
    case "write":
      return writePackages();
    case "set": {
      setVersion(version ?? "");
      const lock = spawnSync("cargo", ["update", "--workspace", "--offline"], { cwd: ROOT, stdio: "inherit" });
      if (lock.status !== 0) throw new Error("Cargo.lock did not follow: run `cargo update --workspace`");
      return undefined;
    }
    default:
      throw new Error(`'${verb}' is unknown; allowed: check, write, set <version>, or nothing`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    main(process.argv.slice(2));
  } catch (error) {
    console.error(`version: ${error.message}`);
    process.exit(1);
  }
}
