// Measures how easy the house is to enter, and prints one line per figure with its goal.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT as root } from "../lib/root.mjs";
import { usesAgainstOrder } from "./rooms.mjs";
import taskField from "./walks/task-field.mjs";

function files(folder, pattern) {
  const found = [];
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (!["target", "node_modules", "dist", "tests"].includes(entry.name)) found.push(...files(path, pattern));
    } else if (pattern.test(entry.name)) {
      found.push(path);
    }
  }
  return found;
}

/** Product code: no test modules. */
function read(path) {
  return readFileSync(join(root, path), "utf8").split(/^#\[cfg\(test\)\]\n(?:pub\S* )?mod /m)[0];
}

const crates = readdirSync(join(root, "crates"));
const rust = crates
  .flatMap((crate) => files(`crates/${crate}/src`, /\.rs$/))
  .filter((path) => !/(tests?|fixture)\.rs$/.test(path));
const code = new Map(rust.map((path) => [path, read(path)]));
const matches = (pattern, within = () => true) =>
  rust.filter(within).reduce((sum, path) => sum + (code.get(path).match(pattern)?.length ?? 0), 0);
const naming = (pattern, within = () => true) => rust.filter((path) => within(path) && pattern.test(code.get(path)));
const inCrate =
  (...names) =>
  (path) =>
    names.some((name) => path.startsWith(`crates/${name}/`));

/** `npm run walks` shows that they are all. */
const ofWalk = new Set(taskField.edits.map(({ file }) => file).filter((file) => file.endsWith(".rs")));

const core = readdirSync(join(root, "crates/core/src"));
const isRoom = (name) => statSync(join(root, "crates/core/src", name)).isDirectory();
const inner = code.get("crates/core/src/lib.rs").split("struct Inner {")[1].split("\n}")[0];

/** Blocks of eight lines with code in them that stand in two files. */
function repeats() {
  const seen = new Map();
  let count = 0;
  for (const path of rust) {
    const lines = code
      .get(path)
      .split("\n")
      .map((line) => line.trim());
    const kept = lines.filter((line) => line.length > 3 && !/^(use |\/\/|#\[|mod |pub )/.test(line));
    let skip = 0;
    for (let at = 0; at + 8 <= kept.length; at++) {
      const block = kept.slice(at, at + 8).join("\n");
      const first = seen.get(block);
      if (first === undefined) seen.set(block, path);
      else if (first !== path && at >= skip) {
        count++;
        skip = at + 8;
      }
    }
  }
  return count;
}

const screens = files("web/src/screens", /\.tsx?$/);
const foreign = screens.filter((path) => {
  const room = (file) => /^web\/src\/screens\/([^/.]+)/.exec(file)?.[1];
  const imports = readFileSync(join(root, path), "utf8").matchAll(/(?:from|import\() ?"([^"]+)"/g);
  const target = (name) => (name.startsWith("@/") ? join("web/src", name.slice(2)) : join(dirname(path), name));
  return [...imports].some(([, name]) => ![undefined, room(path)].includes(room(target(name))));
});

/** Comparisons with three or more words that Forge itself writes somewhere; other programs write what they like. */
function proseMatches() {
  const comparison = /\.(?:contains|starts_with|ends_with|strip_prefix|strip_suffix)\(\s*"([^"\\]*\w \w+ \w[^"\\]*)"/g;
  const compared = [...code.values()].flatMap((text) => [...text.matchAll(comparison)].map(([, phrase]) => phrase));
  const count = (phrase) => [...code.values()].reduce((sum, text) => sum + text.split(phrase).length - 1, 0);
  return compared.filter((phrase) => count(phrase) > compared.filter((other) => other.includes(phrase)).length);
}

const figures = [
  ["rooms in crates/core/src", core.filter(isRoom).length, 16],
  ["loose files in crates/core/src", core.filter((name) => !isRoom(name)).length, 6],
  ["cycles between rooms (uses against their order)", usesAgainstOrder().length, 0],
  ["fields of Inner", inner.match(/,$/gm).length, 14],
  ['value["key"] in cli and tui', matches(/\w\["[a-z_]+"\]/g, inCrate("cli", "tui")), 0],
  [
    "lines of the string language for schemas",
    matches(/^ *(\("\w+", )?"[|=+]?[\w ]*\w\??:(uuid|string|int|bool|number|time|any)\b/gm, inCrate("server")),
    0,
  ],
  ["files that name one ACP agent (Droid)", naming(/\bdroid\b/i, (path) => !path.includes("/legacy/")).length, 3],
  ["Rust files that a new task field touches", ofWalk.size, 14],
  ["places of a column in the store (labels)", matches(/\blabels\b/g, inCrate("store")), 2],
  ["comparisons with a sentence that Forge writes", proseMatches().length, 0],
  ["places that move a task", matches(/\bmoved\(&/g, inCrate("core")), 1],
  ["lines with tell or told", matches(/^.*\b(tell|tells|told|telling)\b.*$/gim), 60],
  ["blocks of eight lines that stand twice", repeats(), 0],
  ["screens that import another screen", foreign.length, 0],
  ["files above 700 lines", rust.filter((path) => code.get(path).split("\n").length > 700).length, 0],
  ["product Rust lines", [...code.values()].reduce((sum, text) => sum + text.split("\n").length, 0), null],
];

const width = Math.max(...figures.map(([name]) => name.length));
for (const [name, value, goal] of figures) {
  const mark = goal === null ? "" : value <= goal ? `ok, goal ${goal}` : `goal ${goal}`;
  console.log(`${name.padEnd(width)}  ${String(value).padStart(7)}  ${mark}`.trimEnd());
}
