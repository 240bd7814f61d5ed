// Every screen but the settings (they have tests of their own), in both themes and on a phone: accessible, nothing cut off, nothing in the console.

import type { Page } from "@playwright/test";
import { expectAccessible } from "./axe";
import { expect, test } from "./world";

const PHONE = { width: 390, height: 844 };

const SCREENS: [name: string, path: string][] = [
  ["projects", "/projects"],
  ["fleet workers", "/fleet"],
  ["fleet beads", "/fleet?view=beads"],
  ["fleet routing", "/fleet?view=routing"],
  ["fleet alerts", "/fleet?view=alerts"],
  ["costs", "/costs"],
];

/** Nothing is wider than the page. */
async function expectToFit(page: Page): Promise<void> {
  const [shown, whole] = await page.evaluate(() => [
    document.documentElement.clientWidth,
    document.documentElement.scrollWidth,
  ]);
  expect(whole).toBeLessThanOrEqual(shown ?? 0);
}

for (const [name, path] of SCREENS) {
  test(`${name}: accessible in dark and light, and fits a phone`, async ({ page, world }) => {
    await world.addProject();
    await page.goto(path);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await expectAccessible(page);
    await page.emulateMedia({ colorScheme: "light" });
    await expectAccessible(page);
    await page.setViewportSize(PHONE);
    await expectToFit(page);
    await expectAccessible(page);
  });
}

test("the way of a task fits a phone: board, task, log, changes", async ({ page, world }) => {
  await world.addProject();
  const started = await world.finish(
    "Write",
    "say A rather long word: Donaudampfschifffahrtsgesellschaft\nwrite src/a.ts export const a = 1;\\n\nsay done",
  );
  await page.setViewportSize(PHONE);
  for (const path of [
    world.boardUrl(),
    world.attemptUrl(started),
    world.attemptUrl(started, "raw"),
    world.attemptUrl(started, "diffs"),
    world.attemptUrl(started, "processes"),
  ]) {
    await page.goto(path);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await expect(page.getByText(/Write|done/).first()).toBeVisible();
    await expectToFit(page);
    await expectAccessible(page);
  }
  await page.goto(world.boardUrl());
  await page.getByRole("button", { name: "New task" }).click();
  await expect(page.getByRole("dialog", { name: "New task" })).toBeVisible();
  await expectToFit(page);
  await expectAccessible(page);
});
