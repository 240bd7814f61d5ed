import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { ROOT, run, tempFolder } from "./fixture.mjs";

const BASICS = ["bash", "dirname", "id"];
const NEEDED = {
  git: "git version 2.39.5",
  cc: "cc 12",
  make: "GNU Make 4",
  cargo: "cargo 1.95.0 (abc)",
  node: "v20.1.0",
};

/** `setup.sh --check` on a system that has these programs, which print these versions, and no package manager. */
async function check(t, programs) {
  const bin = tempFolder(t);
  for (const name of BASICS) {
    const found = process.env.PATH.split(":").find((folder) => fs.existsSync(path.join(folder, name)));
    fs.symlinkSync(path.join(found, name), path.join(bin, name));
  }
  for (const [name, version] of Object.entries(programs)) {
    fs.writeFileSync(path.join(bin, name), `#!${bin}/bash\necho "${version}"\n`, { mode: 0o755 });
  }
  return run(t, path.join(bin, "bash"), [path.join(ROOT, "setup.sh"), "--check"], { env: { PATH: bin } });
}

test("a system with everything passes", async (t) => {
  const { code, stdout, stderr } = await check(t, NEEDED);
  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(stdout, /Everything that Forge needs is here/);
});

test("everything that is missing is reported at once", async (t) => {
  const { code, stderr } = await check(t, {});
  assert.equal(code, 1);
  assert.match(stderr, /missing on this system: git gcc libc6-dev make\. .*apt-get install git gcc libc6-dev make/);
  assert.match(stderr, /cargo is missing\. .*rustup/);
  assert.match(stderr, /node is missing\. .*nodejs/);
});

test("programs that are too old are named with the version that is needed", async (t) => {
  const old = { git: "git version 2.9.1", cargo: "cargo 1.80.1", node: "v18.20.0" };
  const { code, stderr } = await check(t, { ...NEEDED, ...old });
  assert.equal(code, 1);
  assert.match(stderr, /git is 2\.9, which is too old: 2\.38/);
  assert.match(stderr, /cargo is 1\.80, which is too old: 1\.95/);
  assert.match(stderr, /node is 18\.20, which is too old: 20\.0/);
});
