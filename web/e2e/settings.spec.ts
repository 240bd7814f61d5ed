// The settings: what is changed is stored, what is refused is said at its field, and nothing typed is lost.

import { SECTIONS } from "../src/screens/settings/sections";
import { expectAccessible, expectToFit, PHONE } from "./axe";
import { expect, test } from "./world";

test("every section can be used by everybody", async ({ page, world }) => {
  await world.addProject();
  for (const { id: section } of SECTIONS) {
    await page.goto(`/settings/${section}`);
    await expect(page.getByRole("heading", { level: 3 }).first()).toBeVisible();
    await expect(page.getByRole("status", { name: "Loading" })).toHaveCount(0);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await expectAccessible(page);
    }
  }
});

test("changes are saved by key, and leaving with unsaved ones asks", async ({ page, world }) => {
  await page.goto("/settings/editor");
  const save = page.getByRole("button", { name: "Save opening files" });
  const editor = page.getByRole("combobox", { name: "Editor", exact: true });
  await expect(save).toBeDisabled();
  await editor.selectOption("Zed");
  await page.keyboard.press("Control+s");
  await expect(page.getByText("Saved", { exact: true })).toBeVisible();
  expect((await world.client.getConfig()).editor.editor_type).toBe("ZED");

  await editor.selectOption("A command of your own");
  await page.getByRole("textbox", { name: "Command" }).fill("subl -n");
  await page.reload();
  await expect(page.getByRole("textbox", { name: "Command" })).toHaveValue("subl -n");
  const list = page.getByRole("navigation", { name: "Settings" });
  await list.getByRole("link", { name: "Budget" }).click();
  const question = page.getByRole("dialog", { name: "Save the changes?" });
  await question.getByRole("button", { name: "Stay" }).click();
  await expect(page).toHaveURL(/editor$/);
  await list.getByRole("link", { name: "Budget" }).click();
  await question.getByRole("button", { name: "Save" }).click();
  await expect(page).toHaveURL(/budget$/);
  expect((await world.client.getConfig()).editor).toMatchObject({ editor_type: "CUSTOM", custom_command: "subl -n" });
});

test("what the server refuses stands at its field", async ({ page, world, forgiven }) => {
  forgiven.push(/422/);
  await page.goto("/settings/budget");
  const limit = page.getByRole("spinbutton", { name: "Per day" });
  await limit.fill("-3");
  await page.keyboard.press("Control+s");
  await expect(page.getByRole("alert")).toContainText("greater than 0");
  await expect(limit).toHaveAttribute("aria-invalid", "true");
  await limit.fill("2.5");
  await page.keyboard.press("Control+s");
  await expect(page.getByText("Saved", { exact: true })).toBeVisible();
  expect((await world.client.getConfig()).max_cost_usd_per_day).toBe(2.5);
});

test("variants of an agent are written as a form or as JSON", async ({ page, world }) => {
  const options = async (): Promise<unknown> => {
    const { executors } = await world.client.getExecutorProfiles();
    return executors.CODEX;
  };
  await page.goto("/settings/agents?agent=CODEX");
  await page.getByRole("button", { name: "Duplicate" }).click();
  await page.getByRole("textbox", { name: "Name of the new variant" }).fill("very careful");
  await page.keyboard.press("Enter");
  await page.getByRole("combobox", { name: "Sandbox" }).selectOption("read-only");
  await page.keyboard.press("Control+s");
  await expect(page.getByText("Saved", { exact: true })).toBeVisible();
  expect(await options()).toMatchObject({ VERY_CAREFUL: { CODEX: { sandbox: "read-only" } } });

  await page.getByRole("tab", { name: "JSON of all agents" }).click();
  const json = page.getByRole("textbox", { name: /profiles\.json$/ });
  const text = await json.inputValue();
  await json.fill(text.replace('"read-only"', "read-only"));
  await expect(page.getByText(/^Line \d+: read-only is no value/)).toBeVisible();
  await json.fill(text.replace('"read-only"', '"no"'));
  await page.keyboard.press("Control+s");
  await expect(page.getByText(/^Line \d+: sandbox is "no"/)).toBeVisible();
  await expectAccessible(page);
  expect(await options()).toMatchObject({ VERY_CAREFUL: { CODEX: { sandbox: "read-only" } } });
});

test("options and built-in variants of an agent come from the server", async ({ page, world }) => {
  const { agents } = await world.client.request("GET /api/info", {});
  for (const executor of ["CODEX", "COPILOT"]) {
    const { options, built_in_variants } = agents[executor] ?? { options: [], built_in_variants: [] };
    expect(options.length).toBeGreaterThan(3);
    await page.goto(`/settings/agents?agent=${executor}`);
    const panel = page.getByRole("region", { name: /^How .* is run$/ });
    // The label of a switch continues with its hint.
    for (const { label } of options) await expect(panel.getByLabel(label).first()).toBeVisible();
    const variants = panel.getByRole("combobox", { name: "Variant" });
    for (const variant of built_in_variants) {
      await variants.selectOption(variant);
      await expect(panel.getByText("Built in", { exact: true })).toBeVisible();
      await expect(panel.getByRole("button", { name: "Remove" })).toHaveCount(0);
    }
  }
});

test("a token is set and cleared, and never shown", async ({ page, world }) => {
  await page.goto("/settings/github");
  await page.getByLabel("Personal access token", { exact: true }).fill("ghp_secret");
  await page.getByRole("button", { name: "Save Personal access token" }).click();
  await expect(page.getByText("Set", { exact: true })).toBeVisible();
  expect((await world.client.getConfig()).github.pat).not.toBeNull();
  expect(await page.content()).not.toContain("ghp_secret");
  expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain("ghp_secret");
  await page.getByRole("button", { name: "Clear Personal access token" }).click();
  await expect(page.getByLabel("Personal access token", { exact: true })).toHaveValue("");
  expect((await world.client.getConfig()).github.pat).toBeNull();
});

test("a phone has all of it without scrolling sideways", async ({ page, world }) => {
  await page.setViewportSize(PHONE);
  await world.addProject();
  for (const { id: section } of SECTIONS) {
    await page.goto(`/settings/${section}`);
    await expect(page.getByRole("heading", { level: 3 }).first()).toBeVisible();
    await expectToFit(page);
  }
  await page.getByRole("combobox", { name: "Section" }).selectOption("Budget");
  await expect(page).toHaveURL(/budget$/);
});
