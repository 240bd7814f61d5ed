// `forge mcp` by itself: without a server, and when its input ends.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { protocols } from './clients.mjs';
import { Forge, program } from './forge.mjs';

test('without a server a client is told how to start one', async (t) => {
  const nobody = new Forge();
  t.after(() => nobody.clear());
  nobody.env.PORT = '1';
  const protocol = protocols['2025-11-25'];
  const client = protocol.client();
  await assert.rejects(client.connect(protocol.stdio(nobody)), /no Forge answers at .*Start one with `forge serve`/);
  await client.close();
});

test('the bridge ends when its input does, and standard output is the protocol alone', async (t) => {
  const forge = await Forge.start();
  t.after(async () => await forge.stop());
  const bridge = spawn(program, ['--mcp', '--advanced'], { env: forge.env, cwd: forge.dir });
  let out = '';
  bridge.stdout.on('data', (text) => (out += text));
  const code = new Promise((done) => bridge.once('exit', done));
  bridge.stdin.write('this is no message\n');
  bridge.stdin.end('{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"list_projects"}}\n');
  assert.equal(await code, 0);
  const lines = out.trim().split('\n').map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ id }) => id),
    [null, 'a'],
  );
  assert.equal(lines[0].error.code, -32700);
  const { projects, count } = lines[1].result.structuredContent;
  assert.deepEqual([projects, count], [[], 0]);
});
