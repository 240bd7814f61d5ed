// The debug build, and the copy of it that runs.
//
// A server starts keepers from its own path, so that path must hold a program at every moment, also while cargo writes
// the next one: what runs is a copy, replaced by a rename.

import fs from "node:fs";
import path from "node:path";

import { ROOT } from "../lib/root.mjs";
import { Child } from "./child.mjs";

const TARGET = path.resolve(ROOT, process.env.CARGO_TARGET_DIR ?? "target");
const RUNNING = path.join(TARGET, "dev-server", "forge");
export const BUILD_ARGS = ["build", "-p", "forge"];
export const BUILT = path.join(TARGET, "debug", "forge");

let taken = null;

export function startBuild() {
  return new Child("cargo", BUILD_ARGS, { cwd: ROOT });
}

/** The path of the program to run, and whether it is another one than before. */
export function takeBuild() {
  const { size, mtimeMs } = fs.statSync(BUILT);
  const stamp = `${size} ${mtimeMs}`;
  if (stamp === taken) return { program: RUNNING, renewed: false };
  const draft = `${RUNNING}.new`;
  fs.mkdirSync(path.dirname(RUNNING), { recursive: true });
  fs.copyFileSync(BUILT, draft, fs.constants.COPYFILE_FICLONE);
  fs.renameSync(draft, RUNNING);
  taken = stamp;
  return { program: RUNNING, renewed: true };
}
