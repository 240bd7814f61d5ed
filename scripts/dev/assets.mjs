// `dev_assets/`, the data of a server under development (FORGE_HOME). Made from `dev_assets_seed/` on first use, whole
// or not at all; what is there already is never touched.

import fs from "node:fs";
import path from "node:path";

import { ROOT } from "../lib/root.mjs";

export function prepareAssets(root = ROOT) {
  const [seed, assets] = [path.join(root, "dev_assets_seed"), path.join(root, "dev_assets")];
  if (fs.existsSync(assets)) return { assets, fresh: false };
  const draft = `${assets}.${process.pid}.new`;
  fs.cpSync(seed, draft, { recursive: true });
  fs.chmodSync(draft, 0o700);
  fs.renameSync(draft, assets);
  return { assets, fresh: true };
}
