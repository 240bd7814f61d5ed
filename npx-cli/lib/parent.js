// Notices the end of the shell that npm puts between itself and this package.
//
// npx passes SIGTERM to that shell, which ends without passing it on. So when npm started us, the end of our parent is meant
// for us. Whoever starts the launcher detached wants it to stay; it leads a process group then and is left alone.

import fs from "node:fs";

const LOOK_MS = 250;

/** Calls `gone` once, when the parent is one of npm's and ends. */
export function watchParent(gone) {
  if (process.env.npm_command === undefined || leadsGroup()) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    gone();
  }, LOOK_MS);
  timer.unref();
}

/** Where that cannot be determined (only Linux has the file), nothing is watched. */
function leadsGroup() {
  try {
    const fields = fs.readFileSync("/proc/self/stat", "utf8").split(") ").at(-1).split(" ");
    return Number(fields[2]) === process.pid;
  } catch {
    return true;
  }
}
