// Schemathesis: requests made from the description, and the answers compared with it.
// Invariant: ids in paths and bodies are random, so what an operation would start, delete or open does not exist; only
// operations that read, or change what can be changed without an effect outside, get ids of real things.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../lib/root.mjs";
import { MAY_REFUSE, NOT_CALLED, NOT_FILLED, NOT_HELD } from "./api-exceptions.mjs";
import { furnish } from "./api-scene.mjs";

const VERSION = "4.32.5";
const VENV = join(ROOT, "target/schemathesis");
const INSTALL_LIMIT_MS = 300_000;
const LIMIT_MS = 300_000;
const EXAMPLES = 10;
const SEED = 1;
/** What may be answered to a request that fits, whatever the operation: it can name things that are not there. */
const ANSWERS = ["2xx", "3xx", 401, 403, 404, 409, 429, 502, 503];

const FATAL = ["unsupported_regex", "unmatched_filter", "unresolvable_reference", "missing_deserializer"];

/** Prints what does not hold; returns whether that is nothing. */
export async function probe(forge, document) {
  const program = install();
  const description = parse(readFileSync(document, "utf8"));
  const [config, filled] = [join(forge.dir, "schemathesis.toml"), join(forge.dir, "filled.json")];
  withhold(description);
  writeFileSync(filled, write(description));
  writeFileSync(config, settings(operationIds(description), await furnish(forge)));
  const args = ["--config-file", config, "run", filled, "--url", forge.base];
  const ran = spawnSync(program, args, { cwd: forge.dir, stdio: "inherit", timeout: LIMIT_MS });
  if (ran.error) throw ran.error;
  return ran.status === 0;
}

/** JSON in which long numbers stay as they are written: 2^63 - 1 is no number of JavaScript. */
const parse = (text) => JSON.parse(text.replace(/(?<=[:,[])(-?\d{16,})(?=[,}\]])/g, '"#$1#"'));
const write = (value) => JSON.stringify(value).replace(/"#(-?\d+)#"/g, "$1");

function withhold({ components }) {
  for (const { type, field } of NOT_FILLED) {
    const fields = components.schemas[type]?.properties ?? {};
    if (!(field in fields)) throw new Error(`probe: ${type} has no ${field} any more`);
    delete fields[field];
  }
}

function install() {
  const program = join(VENV, "bin/schemathesis");
  if (existsSync(join(VENV, `is-${VERSION}`))) return program;
  const run = (exe, args) => {
    const ran = spawnSync(exe, args, { stdio: ["ignore", "ignore", "inherit"], timeout: INSTALL_LIMIT_MS });
    if (ran.status !== 0) throw new Error(`${exe} ${args.join(" ")} failed; Python 3.10 or newer with venv is needed`);
  };
  run("python3", ["-m", "venv", "--clear", VENV]);
  run(join(VENV, "bin/pip"), ["install", "--quiet", "--disable-pip-version-check", `schemathesis==${VERSION}`]);
  writeFileSync(join(VENV, `is-${VERSION}`), "");
  return program;
}

function operationIds({ paths }) {
  return Object.values(paths).flatMap((methods) => Object.values(methods).map((one) => one.operationId));
}

function settings(ids, { real, parameters }) {
  const matching = (pattern) => {
    const found = ids.filter((id) => pattern.test(id));
    if (found.length === 0) throw new Error(`probe: the exception for ${pattern} matches no operation any more`);
    return found;
  };
  const operations = [
    ...NOT_CALLED.map(({ operation }) => ({ ids: matching(operation), enabled: false })),
    ...NOT_HELD.map(({ operation, check }) => ({ ids: matching(operation), checks: { [check]: { enabled: false } } })),
    ...MAY_REFUSE.map(({ operation, status }) => ({
      ids: matching(operation),
      checks: { positive_data_acceptance: { "expected-statuses": [...ANSWERS, status] } },
    })),
    { ids: ids.filter((id) => real(id)), parameters },
  ];
  const whole = {
    seed: SEED,
    "continue-on-failure": true,
    "request-timeout": 20,
    cache: { enabled: false },
    analysis: { constants: { enabled: false } },
    generation: { "max-examples": EXAMPLES, database: "none", "no-shrink": true },
    // Most ids lead nowhere, on purpose.
    warnings: { display: FATAL, "fail-on": FATAL },
    // What one answer says must not become a request: an id in it is one of a real thing.
    phases: {
      examples: { "extra-data-sources": { responses: false } },
      coverage: { "extra-data-sources": { responses: false } },
      fuzzing: { "extra-data-sources": { responses: false }, "error-feedback": { enabled: false } },
      stateful: { enabled: false },
    },
  };
  const lines = Object.entries(whole).map(([name, value]) => `${name} = ${toml(value)}`);
  for (const { ids, ...rest } of operations) {
    lines.push("", "[[operations]]", `include-operation-id = ${toml(ids)}`);
    lines.push(...Object.entries(rest).map(([name, value]) => `${name} = ${toml(value)}`));
  }
  return `${lines.join("\n")}\n`;
}

/** A value as TOML writes it on one line. */
function toml(value) {
  if (Array.isArray(value)) return `[${value.map(toml).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([name, inner]) => `${JSON.stringify(name)} = ${toml(inner)}`)
    .join(", ")} }`;
}
