// From nothing to a board: what a newcomer sees first.

import { expectAccessible } from "./axe";
import { expect, test } from "./world";

test("a newcomer sees what Forge is, which agents there are, and two ways in", async ({ page }) => {
  await page.goto("/");
  await expect(page).toHaveURL(/\/projects$/);
  await expect(page.getByText("Run many coding agents at once")).toBeVisible();
  await expect(page.getByRole("button", { name: "Try the demo" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Add a repository" })).toBeVisible();
  const agents = page.getByRole("region", { name: "Agents on this machine" });
  await expect(agents.getByText("Scripted")).toBeVisible();
  await expect(agents.getByText("Claude Code")).toHaveCount(1);
  await expectAccessible(page);
});

test("the demo needs one click: agents work, and their work can be reviewed and merged", async ({ page }) => {
  await page.goto("/");
  await page.getByRole("button", { name: "Try the demo" }).click();
  await expect(page).toHaveURL(/\/projects\/[0-9a-f-]{36}\/tasks$/);
  await expect(page.getByRole("region", { name: "In progress" }).getByRole("link").first()).toBeVisible();
  const review = page.getByRole("region", { name: "In review" });
  await expect(review.getByRole("link").first()).toBeVisible({ timeout: 60_000 });
  await review.getByRole("link").first().click();
  await page.getByRole("link", { name: /Changes/ }).click();
  await page.getByRole("button", { name: "Merge", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Merge" }).click();
  await expect(page.getByRole("region", { name: "Branch" }).getByText("Merged")).toBeVisible();
});

test("a repository is added by its path, completed as one types", async ({ page, world }) => {
  const path = world.forge.repository("garden");
  await page.goto("/projects?add=true");
  const dialog = page.getByRole("dialog", { name: "Add a repository" });
  await dialog.getByRole("combobox", { name: "Folder" }).fill(path.slice(0, -3));
  await expect(dialog.getByRole("option", { name: /garden/ })).toBeVisible();
  await expectAccessible(page);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(dialog.getByRole("combobox", { name: "Folder" })).toHaveValue(new RegExp(`^${path}/?$`));
  await expect(dialog.getByLabel("Name", { exact: true })).toHaveValue("garden");
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await expect(page).toHaveURL(/\/projects\/[0-9a-f-]{36}\/tasks$/);
  await expect(page.getByRole("heading", { name: "garden" })).toBeVisible();
});

test("a folder that is not a repository is refused in the server's words, and what was typed stays", async ({
  page,
  world,
}) => {
  await page.goto("/projects?add=true");
  const dialog = page.getByRole("dialog", { name: "Add a repository" });
  await dialog.getByRole("combobox", { name: "Folder" }).fill(`${world.forge.dir}/nothing-here`);
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await expect(dialog.getByRole("alert")).toContainText("does not exist");
  await expect(dialog.getByRole("combobox", { name: "Folder" })).toHaveValue(/nothing-here$/);
});
