// The frame around every screen: what it weighs, what it may load, how it is used.

import { expectAccessible } from "./axe";
import { expect, test } from "./world";

/** What a newcomer's browser has to fetch before it can show anything. */
const INITIAL_SCRIPT_BYTES = 300_000;

test("the first load is small, and everything comes from the server itself", async ({ page, world }) => {
  await world.addProject();
  await page.goto(world.boardUrl());
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  const loaded = await page.evaluate(() => {
    const entries = performance.getEntriesByType("resource") as PerformanceResourceTiming[];
    return entries.map(({ name, encodedBodySize }) => ({ name, bytes: name.endsWith(".js") ? encodedBodySize : 0 }));
  });
  const bytes = loaded.reduce((sum, each) => sum + each.bytes, 0);
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThan(INITIAL_SCRIPT_BYTES);
  const foreign = loaded.map(({ name }) => new URL(name).host).filter((host) => host !== new URL(world.base).host);
  expect(foreign).toEqual([]);
});

test("the policy forbids inline scripts", async ({ page, world, forgiven }) => {
  forgiven.push(/Content Security Policy/);
  const policy = (await page.goto("/"))?.headers()["content-security-policy"] ?? "";
  expect(policy).toContain("script-src 'self'");
  expect(policy).not.toContain("unsafe");
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.wasRun = true";
    document.head.append(script);
  });
  expect(await page.evaluate(() => "wasRun" in window)).toBe(false);
  expect(world.base).toContain("127.0.0.1");
});

test("an address that names nothing says so", async ({ page }) => {
  await page.goto("/no/such/place");
  await expect(page.getByText("Page not found")).toBeVisible();
  await expectAccessible(page);
});

test("the palette finds tasks, projects and commands by typing", async ({ page, world }) => {
  await world.addProject();
  await world.client.createTask(world.projectId, { title: "Sharpen the saw" });
  await page.goto(world.boardUrl());
  await expect(page.getByText("Sharpen the saw")).toBeVisible();
  await page.keyboard.press("Control+k");
  const palette = page.getByRole("dialog");
  await expect(palette).toBeVisible();
  await expectAccessible(page);
  await page.keyboard.type("sharpen");
  await expect(palette.getByRole("option", { name: /Sharpen the saw/ })).toContainText("To do");
  await expect(palette.getByText("No results")).toHaveCount(0);
  await page.keyboard.type(" nothing of the kind");
  await expect(palette.getByText("No results")).toBeVisible();
  await palette.getByRole("combobox").fill("sharpen");
  await palette.getByRole("option", { name: /Sharpen the saw/ }).click();
  await expect(page).toHaveURL(/\/tasks\/[0-9a-f-]{36}/);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("dark theme");
  await page.keyboard.press("Enter");
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
});
