// `npm run board-pictures`: draws docs/board.png and docs/review.png from the page of the debug build, on a server
// with running agents. Needs Chromium (CHROMIUM names another than /usr/bin/chromium).

import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { Forge } from "../lib/forge.mjs";
import { ROOT } from "../lib/root.mjs";

const require = createRequire(path.join(ROOT, "web", "package.json"));
const { chromium } = require("@playwright/test");

const CART = `export interface Item {
  name: string;
  price: number;
}

export function total(items: Item[]): number {
  let sum = 0;
  for (const item of items) {
    sum = sum + item.price;
  }
  return sum;
}
`;

const ROUNDED = `export interface Item {
  name: string;
  /** In cents. */
  price: number;
  amount: number;
}

/** In cents, without rounding: money is counted, not measured. */
export function total(items: Item[]): number {
  return items.reduce((sum, item) => sum + item.price * item.amount, 0);
}
`;

const line = (text) => text.replaceAll("\n", "\\n");
const WORK = `think Where is it done today?\nrun git log --oneline\n${"think On it.\nsleep 1000\n".repeat(120)}`;

const STARTED = [
  [
    "Count money in cents",
    ["cart"],
    `think Floats drift; cents do not.\nsay I will count in cents and let each item have an amount.\nrun cat src/cart.ts\nwrite src/cart.ts ${line(ROUNDED)}\nwrite src/cart.test.ts ${line("import { expect, it } from 'vitest';\nimport { total } from './cart';\n\nit('adds up amounts', () => {\n  expect(total([{ name: 'Tea', price: 350, amount: 2 }])).toBe(700);\n});\n")}\nsay Done, with a test.`,
  ],
  ["Greet customers by their name", ["copy"], "append README.md \\nWelcome back!\\n\nsay Done."],
  ["Say what the shop sells", ["copy"], "write README.md # Shop\\n\\nTea and teapots.\\n\nsay Done."],
  ["Make checkout one page", ["checkout"], WORK],
  ["Search by colour", ["search"], WORK],
  ["Speed up the product list", ["speed"], WORK],
];
const WAITING = [
  ["todo", "Send a receipt by mail", ["checkout"]],
  ["todo", "Show stock in the cart", ["cart"]],
  ["todo", "Translate the checkout", ["copy", "checkout"]],
  ["todo", "Drop the old image format", ["speed"]],
  ["done", "Move to ESM", []],
  ["done", "Cache thumbnails", ["speed"]],
  ["done", "Sort by price", ["search"]],
  ["cancelled", "Rewrite the router", []],
];

function makeRepository(forge) {
  const repository = forge.repository("shop");
  mkdirSync(path.join(repository, "src"));
  writeFileSync(path.join(repository, "src", "cart.ts"), CART);
  forge.commit(repository, "Add up the cart");
  return repository;
}

async function ask(forge, method, route, body) {
  const response = await fetch(forge.base + route, {
    method,
    headers: { "content-type": "application/json" },
    body: body && JSON.stringify(body),
  });
  const answer = await response.json();
  if (!answer.success) throw new Error(`${method} ${route}: ${answer.message}`);
  return answer.data;
}

const forge = await Forge.start();
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  const given = { name: "Shop", git_repo_path: makeRepository(forge), use_existing_repo: true };
  const { id: project } = await ask(forge, "POST", "/api/projects", given);
  for (const [status, title, labels] of WAITING.toReversed()) {
    const task = await ask(forge, "POST", "/api/tasks", { project_id: project, title, labels });
    if (status !== "todo") await ask(forge, "PUT", `/api/tasks/${task.id}`, { status });
  }
  const started = [];
  for (const [title, labels, description] of STARTED) {
    const task = { project_id: project, title, labels, description };
    started.push(await ask(forge, "POST", "/api/tasks/create-and-start", { task, executor_profile_id: "SCRIPTED" }));
  }
  const [{ task_attempt: first, id: task }] = started;
  for (const { task_attempt } of started.slice(0, 3)) {
    while (["pending", "running"].includes((await ask(forge, "GET", `/api/task-attempts/${task_attempt.id}`)).status))
      await pause(100);
  }
  const page = await browser.newPage({
    viewport: { width: 1440, height: 900 },
    colorScheme: "dark",
    reducedMotion: "reduce",
  });
  await page.goto(`${forge.base}/projects/${project}/tasks`);
  await page.getByText("overlaps 1").first().waitFor();
  // Long enough for the running agents to show minutes and seconds that differ.
  await pause(4000);
  await page.screenshot({ path: path.join(ROOT, "docs", "board.png") });
  await page.goto(`${forge.base}/projects/${project}/tasks/${task}/attempts/${first.id}?view=diffs`);
  await page.getByText("reduce").first().waitFor();
  await pause(1500);
  await page.screenshot({ path: path.join(ROOT, "docs", "review.png") });
} finally {
  await browser.close();
  await forge.close();
}
