// From the package to a program that can be started.
//
// Invariant: a program lies in the cache only whole and checked. It is written beside its place and renamed, so two
// first starts at once both succeed, and a broken package leaves nothing behind. Its folder is named by version,
// platform and checksum: another build is never taken for this one. Older ones stay, a server may be running from them.

import { createHash, randomBytes } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { readEntry } from "./zip.js";

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));
const SYSTEMS = { linux: "linux", darwin: "macos", win32: "windows" };

/** The path of the program, unpacked when it was not yet. */
export function unpack() {
  const platform = `${SYSTEMS[process.platform] ?? process.platform}-${process.arch}`;
  const sums = readSums();
  const name = `${platform}/forge.zip`;
  const expected = sums.get(name);
  if (expected === undefined) throw new Error(noProgram(platform, [...sums.keys()]));

  const { version } = JSON.parse(fs.readFileSync(path.join(PACKAGE, "package.json"), "utf8"));
  const folder = path.join(cacheFolder(), "forge", "npx", `${version}-${platform}-${expected.slice(0, 16)}`);
  const program = path.join(folder, "forge");
  if (fs.existsSync(program)) return program;

  const zip = fs.readFileSync(path.join(PACKAGE, "dist", name));
  const found = createHash("sha256").update(zip).digest("hex");
  if (found !== expected) {
    throw new Error(
      `dist/${name} is damaged: its SHA-256 is ${found}, but SHA256SUMS says ${expected}. Install the package again`,
    );
  }
  place(folder, program, readEntry(zip, "forge"));
  return program;
}

function place(folder, program, bytes) {
  const draft = `${program}.${process.pid}-${randomBytes(4).toString("hex")}.new`;
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    // Flushed before it gets its name: after a power cut the name must not belong to half a program.
    fs.writeFileSync(draft, bytes, { mode: 0o755, flag: "wx", flush: true });
    fs.renameSync(draft, program);
  } catch (error) {
    fs.rmSync(draft, { force: true });
    throw new Error(
      `cannot unpack into ${folder}: ${error.message}. Set XDG_CACHE_HOME to a folder that can be written`,
    );
  }
}

/** `<sha256>  <platform>/forge.zip` a line. */
function readSums() {
  let text;
  try {
    text = fs.readFileSync(path.join(PACKAGE, "dist", "SHA256SUMS"), "utf8");
  } catch {
    throw new Error("this package carries no program; make one with `npm run build:npx`");
  }
  const lines = text.split("\n").map((line) => /^([0-9a-f]{64}) {2}(\S+)$/.exec(line));
  return new Map(lines.filter((found) => found !== null).map(([, sum, name]) => [name, sum]));
}

function noProgram(platform, names) {
  const known = names.map((name) => name.split("/")[0]).join(", ") || "none";
  const hint = process.platform === "win32" ? "use it inside WSL" : "build it from source with `cargo build --release`";
  return `there is no program for ${platform} in this package (there is: ${known}); ${hint}`;
}

function cacheFolder() {
  const given = process.env.XDG_CACHE_HOME;
  if (given && path.isAbsolute(given)) return given;
  return path.join(os.homedir(), process.platform === "darwin" ? "Library/Caches" : ".cache");
}
