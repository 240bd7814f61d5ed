// `npm run check:api` holds the description of the API (`/api/openapi.json`) against tools that are not ours: Redocly's
// linter reads it, and Schemathesis calls the operations with what it allows and with what it forbids.
// Invariant: everything happens in a scratch folder on a port of its own, without agents and without the network.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Forge } from "../lib/forge.mjs";
import { lint } from "./api-lint.mjs";
import { probe } from "./api-probe.mjs";

/** Nobody listens there. */
const NOWHERE = "http://127.0.0.1:9";

const forge = new Forge();
try {
  mkdirSync(forge.home, { recursive: true });
  const hosts = { "github.com": { api: NOWHERE, web: NOWHERE } };
  writeFileSync(join(forge.home, "config.json"), JSON.stringify({ hosts }));
  await forge.up();
  const document = join(forge.dir, "openapi.json");
  const answer = await fetch(`${forge.base}/api/openapi.json`, { signal: AbortSignal.timeout(30_000) });
  writeFileSync(document, await answer.text());
  const linted = lint(document);
  const probed = await probe(forge, document);
  if (!linted || !probed) process.exitCode = 1;
} finally {
  await forge.close();
}
