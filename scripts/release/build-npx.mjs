// `npm run build:npx`: the program as `npx-cli/dist/<platform>/forge.zip`, with SHA256SUMS over every platform there.
//
//   --binary FILE --platform NAME   packs a program that was built elsewhere, e.g. for linux-arm64
//   --package DIR                   another folder than npx-cli
//   FORGE_NPX_PROFILE=debug         packs the debug build: quick, for tests
//
// Invariant: same program, same Node, same bytes.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";

import { ROOT } from "../lib/root.mjs";
import { findDrift } from "./version.mjs";
import { writeZip } from "./zip.mjs";

const PROFILES = ["release", "debug"];
const PLATFORM = /^(linux|macos)-(x64|arm64)$/;
const SYSTEMS = { linux: "linux", darwin: "macos" };

function fail(message) {
  console.error(`build:npx: ${message}`);
  process.exit(1);
}

/** Builds the program and returns its path. */
function build(profile) {
  const target = path.join(ROOT, "target", profile === "release" ? "npx" : "");
  const args = ["build", "--locked", "-p", "forge", "--target-dir", target];
  const env = { ...process.env };
  if (profile === "release") {
    args.push("--release");
    // The program must neither reveal nor depend on where it was built. Other flags need another folder,
    // or `npm start` would compile everything again.
    const cargoHome = env.CARGO_HOME ?? path.join(os.homedir(), ".cargo");
    const flags = [`--remap-path-prefix=${ROOT}=/forge`, `--remap-path-prefix=${cargoHome}=/cargo`];
    env.CARGO_ENCODED_RUSTFLAGS = flags.join("\x1f");
  }
  const cargo = spawnSync("cargo", args, { cwd: ROOT, env, stdio: "inherit" });
  if (cargo.status !== 0) fail(`cargo ${args.join(" ")} failed`);
  return path.join(target, profile, "forge");
}

function pack(binary, platform, folder, level) {
  const zip = writeZip([{ name: "forge", mode: 0o755, bytes: fs.readFileSync(binary) }], level);
  const place = path.join(folder, "dist", platform);
  fs.mkdirSync(place, { recursive: true });
  fs.writeFileSync(path.join(place, "forge.zip"), zip);
  return zip.length;
}

function writeSums(folder) {
  const dist = path.join(folder, "dist");
  const names = fs.readdirSync(dist).filter((name) => fs.existsSync(path.join(dist, name, "forge.zip")));
  const lines = names.sort().map((platform) => {
    const name = `${platform}/forge.zip`;
    return `${createHash("sha256")
      .update(fs.readFileSync(path.join(dist, name)))
      .digest("hex")}  ${name}\n`;
  });
  fs.writeFileSync(path.join(dist, "SHA256SUMS"), lines.join(""));
}

const { values: given } = parseArgs({
  options: { binary: { type: "string" }, platform: { type: "string" }, package: { type: "string" } },
});
const profile = process.env.FORGE_NPX_PROFILE || "release";
const platform = given.platform ?? `${SYSTEMS[process.platform] ?? process.platform}-${process.arch}`;
const folder = path.resolve(given.package ?? path.join(ROOT, "npx-cli"));
if (!PROFILES.includes(profile)) fail(`FORGE_NPX_PROFILE: '${profile}' is unknown; allowed: ${PROFILES.join(", ")}`);
if (!PLATFORM.test(platform)) fail(`platform: '${platform}' is unknown; allowed: linux or macos, -x64 or -arm64`);
if (given.platform !== undefined && given.binary === undefined)
  fail("--platform needs --binary: this builds only for itself");
const drift = findDrift();
if (drift.length > 0) fail(`${drift.join("; ")}. Run: node scripts/release/version.mjs write`);

const bytes = pack(given.binary ?? build(profile), platform, folder, profile === "release" ? 9 : 1);
fs.copyFileSync(path.join(ROOT, "LICENSE"), path.join(folder, "LICENSE"));
writeSums(folder);
console.log(`${path.relative(process.cwd(), path.join(folder, "dist", platform, "forge.zip"))}: ${bytes} bytes`);
// With a bare name npm packs whatever the registry has under it.
console.log(`Next: npm pack ./${path.relative(process.cwd(), folder)}`);
