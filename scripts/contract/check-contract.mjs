// `npm run check-contract` compares the built server with contract/snapshot.json, the contract as it was last released.
// With `--update` the server becomes the snapshot; a breaking change needs a new line under "Migration" in CHANGELOG.md.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Forge } from "../lib/forge.mjs";
import { compare, describe, write } from "./contract.mjs";
import { listTools } from "./mcp.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const { values } = parseArgs({
  options: {
    update: { type: "boolean", default: false },
    snapshot: { type: "string", default: here("../../contract/snapshot.json") },
    changelog: { type: "string", default: here("../../CHANGELOG.md") },
  },
});

const before = readSnapshot();
const after = { ...(await look()), migration: readMigration() };
const found = before ? compare(before, after) : [];
const breaking = found.filter((one) => one.breaking);
const additive = found.filter((one) => !one.breaking);
const described = new Set(before?.migration ?? []);

if (!before && !values.update) {
  fail(`${values.snapshot} is missing; run: npm run check-contract -- --update`);
} else if (breaking.length > 0 && !values.update) {
  const way =
    'npm run check-contract -- --update, with a line under "Migration" in CHANGELOG.md that explains to users what to do';
  fail(`${list("Clients would break", breaking)}\nUndo this, or if it must be: ${way}`);
} else if (breaking.length > 0 && !after.migration.some((line) => !described.has(line))) {
  fail(
    `${list("Clients would break", breaking)}\nCHANGELOG.md: add a line under "Migration" that explains to users what to do`,
  );
} else if (values.update) {
  writeFileSync(values.snapshot, write(after));
} else if (additive.length > 0) {
  console.log(`${list("New in the contract", additive)}\nTo keep it from now on: npm run check-contract -- --update`);
}

async function look() {
  const forge = await Forge.start();
  try {
    const answer = await fetch(`${forge.base}/api/openapi.json`, { signal: AbortSignal.timeout(30_000) });
    return describe(await answer.json(), await listTools(forge.base));
  } finally {
    await forge.close();
  }
}

function readSnapshot() {
  try {
    return JSON.parse(readFileSync(values.snapshot, "utf8"));
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** The points under every heading "Migration". */
function readMigration() {
  const lines = [];
  let inside = false;
  for (const line of readFileSync(values.changelog, "utf8").split("\n")) {
    if (/^#+ /.test(line)) inside = /^#+ +Migration\b/i.test(line);
    else if (inside && /^[-*] +\S/.test(line)) lines.push(line.slice(1).trim());
  }
  return lines;
}

function list(title, changes) {
  return [`${title}:`, ...changes.map((one) => `  - ${one.what}`)].join("\n");
}

function fail(message) {
  console.error(message);
  process.exitCode = 1;
}
