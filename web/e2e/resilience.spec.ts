// The server dies and comes back; the page says so, and loses nothing.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, OUT_OF_REACH, test } from "./world";

test("after kill -9 the page continues where it was, without a gap or a duplicate, and keeps what was typed", async ({
  page,
  world,
  forgiven,
}) => {
  forgiven.push(OUT_OF_REACH);
  await world.addProject();
  // Some words before the server dies, some while it is away, some after it is back.
  const words = (from: number, to: number): string[] =>
    Array.from({ length: to - from }, (_, at) => `say word-${from + at};`);
  const script = [...words(0, 14), world.gate("dead"), ...words(14, 28), world.gate("back"), ...words(28, 40)];
  const started = await world.start("Outlive", [...script, "say the end"].join("\n"));
  await page.goto(world.attemptUrl(started));
  const log = page.getByRole("region", { name: "Transcript" });
  // Any of them: on a busy machine the agent is far ahead of the page, and the list draws only what is seen.
  await expect(log.getByText(/^word-\d+;$/).first()).toBeVisible();
  await page.getByLabel("Message to Scripted").fill("what I was about to say");
  await world.restart(async () => {
    world.allow("dead");
    await expect(page.getByText("Lost connection to Forge")).toBeVisible();
    // What cannot be taken is not sent, and no words of the browser are shown for it.
    await expect(page.getByRole("button", { name: /^Send/ })).toBeDisabled();
  });
  world.allow("back");
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
  await world.restart();
  await world.client.createTask(world.projectId, { title: "After" });
  await expect(page.getByRole("link", { name: "After" })).toBeVisible({ timeout: 40_000 });
  await expect(page.getByRole("link", { name: "Before" })).toHaveCount(1);
});

test.describe("with a token", () => {
  test.use({ serverArgs: ["--require-token"] });

  test("the login link lets in once, and the page says so when the server asks again", async ({
    page,
    world,
    forgiven,
  }) => {
    forgiven.push(OUT_OF_REACH, /401/);
    const link = (): string => readFileSync(join(world.forge.home, "login"), "utf8").trim();
    expect((await page.goto("/"))?.status()).toBe(401);
    await expect(page.getByRole("heading", { name: "Log in to continue" })).toBeVisible();
    await page.goto(link());
    await expect(page.getByRole("button", { name: "Try the demo" })).toBeVisible();
    await world.restart();
    await expect(page.getByText("asks for a login")).toBeVisible({ timeout: 40_000 });
    await page.goto(link());
    await expect(page.getByRole("button", { name: "Try the demo" })).toBeVisible();
  });
});
