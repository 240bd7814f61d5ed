// Redocly's linter with its recommended rules, less the complaints that are meant.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "../lib/root.mjs";
import { NOT_LINTED } from "./api-exceptions.mjs";

const LIMIT_MS = 60_000;

/** Prints what the linter complains about; returns whether that is nothing. */
export function lint(document) {
  const config = join(dirname(document), "redocly.yaml");
  writeFileSync(config, "extends: [recommended]\n");
  const args = ["lint", document, "--config", config, "--format", "json", "--max-problems", "10000"];
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  const ran = spawnSync(join(ROOT, "node_modules/.bin/redocly"), args, { encoding: "utf8", env, timeout: LIMIT_MS });
  if (ran.error) throw ran.error;
  const { problems } = JSON.parse(ran.stdout);
  const unused = new Set(NOT_LINTED);
  const left = problems.filter(({ ruleId, location }) => {
    const meant = NOT_LINTED.find((one) => one.rule === ruleId && one.at.test(location[0].pointer));
    unused.delete(meant);
    return !meant;
  });
  for (const { ruleId, message, location } of left) console.error(`lint: ${ruleId} ${location[0].pointer}: ${message}`);
  for (const { rule, at } of unused) console.error(`lint: the exception for ${rule} at ${at} matches nothing any more`);
  console.log(`lint: ${left.length} complaints, ${problems.length - left.length} meant`);
  return left.length === 0 && unused.size === 0;
}
