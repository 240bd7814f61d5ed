// `node scripts/release/check-board.mjs <command…>`: whether the Forge that the command starts has the board in it.
//
// A build without npm, or one whose board failed, makes a program that works and only lacks its page. Invariant: the
// program runs with a home of its own in a temporary folder and is gone when this ends.

import path from "node:path";

import { Forge } from "../lib/forge.mjs";

const PATIENCE_MS = 60_000;

async function read(address) {
  const answer = await fetch(address, { signal: AbortSignal.timeout(PATIENCE_MS) });
  return { status: answer.status, text: await answer.text() };
}

/** What keeps the page at `base` from being the board, or nothing. */
async function findProblem(base) {
  const { status, text } = await read(`${base}/`);
  if (status !== 200) return `GET / answers ${status}`;
  const reason = /<pre>([\s\S]*?)<\/pre>/.exec(text)?.[1];
  if (reason) return reason.trim();
  const script = /<script[^>]+src="(\/assets\/[^"]+\.js)"/.exec(text)?.[1];
  if (!script) return "the page at / loads no script of the board";
  const loaded = await read(`${base}${script}`);
  return loaded.status === 200 ? undefined : `GET ${script} answers ${loaded.status}`;
}

async function main(words) {
  if (words.length === 0)
    throw new Error("name the program, e.g. node scripts/release/check-board.mjs target/release/forge");
  // The program runs elsewhere.
  const program = words.map((word) => (word.includes("/") ? path.resolve(word) : word));
  const forge = new Forge([], program);
  try {
    await forge.up();
    const problem = await findProblem(forge.base);
    if (problem) throw new Error(`the board is not in '${words.join(" ")}': ${problem}`);
  } finally {
    await forge.close();
  }
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(`check-board: ${error.message}`);
  process.exitCode = 1;
}
