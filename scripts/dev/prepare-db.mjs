// `npm run prepare-db`: the database in dev_assets/, made or brought up to date by the server's own migrations.

import { spawnSync } from "node:child_process";
import { ROOT } from "../lib/root.mjs";
import { prepareAssets } from "./assets.mjs";
import { BUILD_ARGS, BUILT } from "./build.mjs";

function run(command, args, env) {
  const { status, error } = spawnSync(command, args, { cwd: ROOT, env, stdio: "inherit" });
  if (error)
    console.error(`prepare-db: cannot run ${command}: ${error.message}. Run ./setup.sh to see what is missing`);
  if (status !== 0) process.exit(1);
}

run("cargo", BUILD_ARGS, process.env);
const { assets } = prepareAssets();
run(BUILT, ["prepare-db"], { ...process.env, FORGE_HOME: assets });
