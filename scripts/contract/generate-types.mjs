// `npm run generate-types` writes shared/types.ts; with `--check` it only checks whether the file is current.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { Forge } from "../lib/forge.mjs";
import { render } from "./typescript.mjs";

const file = fileURLToPath(new URL("../../shared/types.ts", import.meta.url));

const forge = await Forge.start();
let text;
try {
  const answer = await fetch(`${forge.base}/api/openapi.json`, { signal: AbortSignal.timeout(30_000) });
  text = render(await answer.json());
} finally {
  await forge.close();
}

if (!process.argv.includes("--check")) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
} else if (text !== read()) {
  console.error("shared/types.ts is not what the server describes; run: npm run generate-types");
  process.exitCode = 1;
}

function read() {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
