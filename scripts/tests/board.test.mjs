import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { ROOT, run, tempFolder } from "./fixture.mjs";

/** A program that serves `files` as Forge serves its page, and nothing else. */
function program(t, files) {
  const file = path.join(tempFolder(t), "forge.mjs");
  const text = `
    import fs from 'node:fs';
    import http from 'node:http';
    const files = ${JSON.stringify(files)};
    const server = http.createServer(({ url }, answer) => answer.writeHead(url in files ? 200 : 404).end(files[url]));
    server.listen(0, '127.0.0.1', () => {
      fs.mkdirSync(process.env.FORGE_HOME, { recursive: true });
      fs.writeFileSync(process.env.FORGE_HOME + '/port', String(server.address().port));
    });`;
  fs.writeFileSync(file, text);
  return file;
}

const check = (t, files) =>
  run(t, "node", [path.join(ROOT, "scripts/release/check-board.mjs"), "node", program(t, files)]);

test("a program with the board passes", async (t) => {
  const page =
    '<script src="/theme.js"></script><script type="module" crossorigin src="/assets/index-1a2b.js"></script>';
  const { code, stderr } = await check(t, { "/": page, "/assets/index-1a2b.js": "board()" });
  assert.equal(code, 0, stderr);
});

test("a program without the board, or with only a part of it, is recognised", async (t) => {
  const missing = fs.readFileSync(path.join(ROOT, "crates/server/page/missing.html"), "utf8");
  const cases = [
    [{ "/": missing.replace("__REASON__", "npm was not found") }, /npm was not found/],
    [{ "/": "<p>Something else</p>" }, /loads no script/],
    [{ "/": '<script src="/assets/index-1a2b.js"></script>' }, /index-1a2b\.js answers 404/],
    [{}, /GET \/ answers 404/],
  ];
  for (const [files, words] of cases) {
    const { code, stderr } = await check(t, files);
    assert.equal(code, 1);
    assert.match(stderr, words);
  }
});
