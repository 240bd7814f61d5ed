// `forge mcp` by itself: without a server, and when its input ends.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";
import { protocols } from "./clients.mjs";
import { Forge, program } from "./forge.mjs";

for (const [version, protocol] of Object.entries(protocols)) {
  test(`a client that starts before the server learns how to start one, and finds it then (${version})`, async (t) => {
    const forge = new Forge();
    t.after(async () => await forge.close());
    const client = protocol.client();
    t.after(async () => await client.close());
    await client.connect(protocol.stdio(forge));
    const { tools } = await client.listTools();
    assert.ok(tools.length > 30, `${tools.length} tools`);
    const list = () => protocol.call(client, { name: "list_projects", arguments: {} });
    const refused = await list();
    assert.equal(refused.isError, true);
    assert.match(refused.content[0].text, /[Ss]tart one with `forge serve`/);
    await forge.up();
    assert.deepEqual((await list()).structuredContent.projects, []);
  });
}

test("the bridge ends when its input does, and standard output is the protocol alone", async (t) => {
  const forge = await Forge.start();
  t.after(async () => await forge.close());
  const bridge = spawn(program, ["--mcp", "--advanced"], { env: forge.env, cwd: forge.dir });
  let out = "";
  bridge.stdout.on("data", (text) => (out += text));
  const code = new Promise((done) => bridge.once("exit", done));
  bridge.stdin.write("this is no message\n");
  bridge.stdin.end('{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"list_projects"}}\n');
  assert.equal(await code, 0);
  const lines = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ id }) => id),
    [null, "a"],
  );
  assert.equal(lines[0].error.code, -32700);
  const { projects, count } = lines[1].result.structuredContent;
  assert.deepEqual([projects, count], [[], 0]);
});
