// The server dies and comes back; the page says so, and loses nothing.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Forge } from "../../scripts/lib/forge.mjs";
import { expect, OUT_OF_REACH, test } from "./world";

test("after kill -9 the page goes on where it was, without a gap or a duplicate, and keeps what was typed", async ({
  page,
  world,
  forgiven,
}) => {
  forgiven.push(OUT_OF_REACH);
  await world.addProject();
  const script = Array.from({ length: 40 }, (_, at) => `say word-${at};\nsleep 150`).join("\n");
  const started = await world.start("Outlive", `${script}\nsay the end`);
  await page.goto(world.attemptUrl(started));
  const log = page.getByRole("region", { name: "Transcript" });
  // Any of them: on a busy machine the agent is far ahead of the page, and the list draws only what is seen.
  await expect(log.getByText(/^word-\d+;$/).first()).toBeVisible();
  await page.getByLabel("Message to Scripted").fill("what I was about to say");
  const port = Number(new URL(world.base).port);
  await world.forge.crash();
  await expect(page.getByText("Lost connection to Forge")).toBeVisible();
  // What cannot be taken is not sent, and no words of the browser are shown for it.
  await expect(page.getByRole("button", { name: /^Send/ })).toBeDisabled();
  await world.forge.up(port);
  await expect(page.getByText("Lost connection to Forge")).toHaveCount(0, { timeout: 40_000 });
  await expect(log.getByText("the end", { exact: true }).last()).toBeVisible({ timeout: 40_000 });
  await expect(page.getByLabel("Message to Scripted")).toHaveValue("what I was about to say");
  // The list draws what is seen; walking through it from word to word shows all of them, in order and once.
  await log.evaluate((node) => node.scrollTo({ top: 0 }));
  for (let at = 0; at < 40; at++) {
    await expect(log.getByText(`word-${at};`, { exact: true })).toHaveCount(1);
    const shown = (await log.getByText(/^word-\d+;$/).allTextContents()).map((word) =>
      Number.parseInt(word.slice(5), 10),
    );
    expect(shown).toEqual(shown.map((_, nth) => (shown[0] ?? 0) + nth));
    // From here the next one is in sight, however slowly the rows are drawn.
    await log.getByText(`word-${at};`, { exact: true }).evaluate((node) => node.scrollIntoView({ block: "start" }));
  }
});

test("a board that was left behind is true again after a restart", async ({ page, world, forgiven }) => {
  forgiven.push(OUT_OF_REACH);
  await world.addProject();
  await world.client.createTask(world.projectId, { title: "Before" });
  await page.goto(world.boardUrl());
  await expect(page.getByRole("link", { name: "Before" })).toBeVisible();
  const port = Number(new URL(world.base).port);
  await world.forge.crash();
  await world.forge.up(port);
  await world.client.createTask(world.projectId, { title: "After" });
  await expect(page.getByRole("link", { name: "After" })).toBeVisible({ timeout: 40_000 });
  await expect(page.getByRole("link", { name: "Before" })).toHaveCount(1);
});

test("a server that asks for a token lets the login link in once, and says so when it asks again", async ({
  browser,
}) => {
  const forge = await Forge.start(["--require-token"]);
  try {
    const link = (): string => readFileSync(join(forge.home, "login"), "utf8").trim();
    const page = await browser.newPage();
    expect((await page.goto(forge.base))?.status()).toBe(401);
    await expect(page.getByRole("heading", { name: "Log in to continue" })).toBeVisible();
    await page.goto(link());
    await expect(page.getByRole("button", { name: "Try the demo" })).toBeVisible();
    const port = Number(new URL(forge.base).port);
    await forge.crash();
    await forge.up(port);
    await expect(page.getByText("asks for a login")).toBeVisible({ timeout: 40_000 });
    await page.goto(link());
    await expect(page.getByRole("button", { name: "Try the demo" })).toBeVisible();
    await page.close();
  } finally {
    await forge.close();
  }
});
