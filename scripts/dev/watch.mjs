// Reports when files below some paths changed, once per burst.
//
// One watch per folder, not the recursive mode: that one follows files by inode on Linux and loses those that an editor
// replaces. Folders that appear later are watched too.

import fs from "node:fs";
import path from "node:path";

const QUIET_MS = 300;
// Files that editors and test tools put beside the real ones.
const IGNORED = /^\.|~$|\.sw.$|\.tmp$|\.new$|^#.*#$|^\d+$/;

export class Watch {
  #watchers = new Map();
  #timer = null;
  #changed;

  /** `folders` with everything below them, and single `files`, which are seen through the folder that holds them. */
  constructor(folders, files, changed) {
    this.#changed = changed;
    for (const folder of folders) this.#add(folder);
    for (const file of files) {
      const isIt = (_, name) => name === path.basename(file) && this.#announce();
      this.#watchers.set(file, fs.watch(path.dirname(file), isIt));
    }
  }

  close() {
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #add(folder) {
    if (this.#watchers.has(folder)) return;
    let entries;
    try {
      const watcher = fs.watch(folder, (_, name) => this.#notice(folder, name));
      watcher.on("error", () => this.#drop(folder));
      this.#watchers.set(folder, watcher);
      entries = fs.readdirSync(folder, { withFileTypes: true });
    } catch {
      // Gone again already; the folder that held it reports that.
      return this.#drop(folder);
    }
    for (const entry of entries) {
      if (entry.isDirectory() && !IGNORED.test(entry.name)) this.#add(path.join(folder, entry.name));
    }
    return undefined;
  }

  #drop(folder) {
    this.#watchers.get(folder)?.close();
    this.#watchers.delete(folder);
  }

  #notice(folder, name) {
    if (name === null || IGNORED.test(name)) return;
    const changed = path.join(folder, name);
    const stat = fs.statSync(changed, { throwIfNoEntry: false });
    if (stat === undefined) this.#drop(changed);
    else if (stat.isDirectory()) this.#add(changed);
    this.#announce();
  }

  #announce() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#changed, QUIET_MS);
  }
}
