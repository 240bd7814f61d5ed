// Where rooms of the engine use a room that comes after them: what tests/tests/e2e/house/rooms.rs forbids, found by the same
// means and with the lists that are written there. A cycle between rooms has at least one such use.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { ROOT } from "../lib/root.mjs";

const TEST = "tests/tests/e2e/house/rooms.rs";

/** The words in quotes of a list in the test. */
function listed(root, name) {
  const list = new RegExp(`const ${name}: .* = \\[([^;]*)\\];`).exec(readFileSync(join(root, TEST), "utf8"))?.[1];
  const words = [...(list ?? "").matchAll(/"(\w+)"/g)].map(([, word]) => word);
  if (words.length === 0) throw new Error(`${TEST} has no list ${name} any more; house and test must read the same`);
  return words;
}

/** The code of a file without its comments and its tests. */
function read(path) {
  return readFileSync(path, "utf8")
    .split("#[cfg(test)]")[0]
    .replace(/\/\/.*$/gm, "");
}

/** The bodies of `impl Forge`. */
function verbs(code) {
  const blocks = code.split("\nimpl Forge {").slice(1);
  return blocks.map((block) => block.split("\n}")[0]).join("\n");
}

const found = (text, pattern) => [...text.matchAll(pattern)].map(([, word]) => word);

/** `file uses the room`, a line each. */
export function usesAgainstOrder(root = ROOT) {
  const engine = join(root, "crates/core/src");
  const rooms = listed(root, "ROOMS");
  const state = listed(root, "STATE");
  const roomOfField = new Map(state.flatMap((word, at) => (at % 2 ? [] : [[word, state[at + 1]]])));
  const files = rooms.flatMap((room) => {
    const below = readdirSync(join(engine, room), { recursive: true }).filter((name) => name.endsWith(".rs"));
    return below.map((name) => ({ room, file: join(room, name), code: read(join(engine, room, name)) }));
  });
  const owners = new Map();
  for (const { room, code } of files) {
    for (const verb of found(verbs(code), /fn (\w+)/g)) owners.set(verb, (owners.get(verb) ?? new Set()).add(room));
  }
  return files.flatMap(({ room, file, code }) => {
    const called = [...found(verbs(code), /self\.(\w+)\(/g), ...found(code, /forge\.(\w+)\(/g)];
    const used = new Set([
      ...found(code, /crate::(\w+)/g),
      ...called.flatMap((verb) => (owners.get(verb)?.size === 1 ? [...owners.get(verb)] : [])),
      ...found(code, /\.0\.(\w+)/g).map((field) => roomOfField.get(field)),
    ]);
    const above = rooms.slice(rooms.indexOf(room) + 1).filter((other) => used.has(other));
    return above.map((other) => `${file} uses the room ${other}`);
  });
}
