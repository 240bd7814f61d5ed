// `npm run dev` and `npm run prepare-db` in a workspace of their own. Only cargo is played: it "builds" by copying the
// program that is already there.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { ROOT, run, start, tempFolder, until } from "./fixture.mjs";

const CARGO = `#!/bin/sh
if [ -e broken ]; then exit 101; fi
mkdir -p target/debug && cp "$REAL_PROGRAM" target/debug/forge
`;

function workspace(t) {
  const root = fs.realpathSync(tempFolder(t));
  for (const name of ["scripts", "dev_assets_seed", "Cargo.toml", "Cargo.lock"]) {
    fs.cpSync(path.join(ROOT, name), path.join(root, name), { recursive: true });
  }
  for (const name of ["crates/one/src", "bin", "tmp"]) fs.mkdirSync(path.join(root, name), { recursive: true });
  fs.writeFileSync(path.join(root, "bin", "cargo"), CARGO, { mode: 0o755 });
  const { BACKEND_PORT: _, CARGO_TARGET_DIR: __, DATABASE_URL: ___, ...rest } = process.env;
  const env = {
    ...rest,
    PATH: `${path.join(root, "bin")}:${process.env.PATH}`,
    REAL_PROGRAM: path.join(ROOT, "target", "debug", "forge"),
    FORGE_WORKTREE_DIR: path.join(root, "worktrees"),
    TMPDIR: path.join(root, "tmp"),
  };
  return { root, env };
}

async function isHealthy(address) {
  try {
    return (await fetch(`${address}/health`)).ok;
  } catch {
    return false;
  }
}

/** An editor's way of saving: a new file under the old name. */
function save(file, text) {
  fs.writeFileSync(`${file}.tmp`, text);
  fs.renameSync(`${file}.tmp`, file);
}

const count = (text, word) => text.split(word).length - 1;

test("dev seeds, serves, starts again on changes, keeps the old server when a build fails, and leaves nothing", async (t) => {
  const { root, env } = workspace(t);
  const source = path.join(root, "crates", "one", "src", "lib.rs");
  save(source, "// one");
  const dev = start(t, "node", ["scripts/dev/serve.mjs"], { cwd: root, env });
  const address = await until("the address", () => /server {2}(http:\S+)/.exec(dev.stdout)?.[1]);
  await until("the first server", () => isHealthy(address));
  const config = JSON.parse(fs.readFileSync(path.join(root, "dev_assets", "config.json"), "utf8"));
  assert.equal(config.executor_profile.executor, "SCRIPTED");
  assert.deepEqual(
    fs.readdirSync(path.join(root, "dev_assets")).filter((name) => name.includes("broken")),
    [],
  );

  const listening = () => count(dev.stdout, " listens on ");
  assert.equal(listening(), 1);
  save(source, "// two");
  await until("the second server", () => listening() === 2 && isHealthy(address));
  fs.mkdirSync(path.join(root, "crates", "two"));
  await until("the third server", () => listening() === 3 && isHealthy(address));
  fs.writeFileSync(path.join(root, "crates", "two", "new.rs"), "// in a folder that was not there at first");
  await until("the fourth server", () => listening() === 4 && isHealthy(address));
  save(path.join(root, "Cargo.toml"), "# changed");
  await until("the fifth server", () => listening() === 5 && isHealthy(address));

  fs.writeFileSync(path.join(root, "broken"), "");
  save(source, "// does not compile");
  await until("the failed build", () => dev.stdout.includes("the build failed; the old server keeps running"));
  assert.ok(await isHealthy(address));
  assert.equal(listening(), 5);

  dev.child.kill("SIGINT");
  const { code, signal, stderr } = await dev.ended;
  assert.deepEqual([code, signal], [0, null], stderr);
  assert.equal(await isHealthy(address), false, "the server is left behind");
});

test("the page is live in a clone that was never installed, once the first build has brought its tools", async (t) => {
  const { root, env } = workspace(t);
  fs.mkdirSync(path.join(root, "web"));
  save(path.join(root, "web", "package.json"), "{}");
  save(path.join(root, "bin", "cargo"), `${CARGO}mkdir -p node_modules/vite\n`);
  save(path.join(root, "bin", "npm"), '#!/bin/sh\necho "npm $*"; exec sleep 1000\n');
  for (const name of ["cargo", "npm"]) fs.chmodSync(path.join(root, "bin", name), 0o755);
  const dev = start(t, "node", ["scripts/dev/serve.mjs"], { cwd: root, env });
  const port = await until("the page", () => /page {4}http:\/\/127\.0\.0\.1:(\d+)/.exec(dev.stdout)?.[1]);
  await until("its program", () =>
    dev.stdout.includes(`dev --workspace @forge/web -- --host 127.0.0.1 --port ${port}`),
  );
  dev.child.kill("SIGINT");
  assert.equal((await dev.ended).code, 0);
});

test("what is in dev_assets is never overwritten, and the database is prepared there", async (t) => {
  const { root, env } = workspace(t);
  const first = await run(t, "node", ["scripts/dev/prepare-db.mjs"], { cwd: root, env });
  const database = path.join(root, "dev_assets", "db.sqlite");
  assert.equal(first.code, 0, first.stderr);
  assert.ok(first.stdout.includes(database), first.stdout);
  assert.ok(fs.statSync(database).size > 0);
  save(path.join(root, "dev_assets", "profiles.json"), '{"mine": true}');
  const second = await run(t, "node", ["scripts/dev/prepare-db.mjs"], { cwd: root, env });
  assert.equal(second.code, 0, second.stderr);
  assert.equal(fs.readFileSync(path.join(root, "dev_assets", "profiles.json"), "utf8"), '{"mine": true}');
});
