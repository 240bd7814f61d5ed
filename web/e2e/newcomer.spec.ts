// A newcomer's first minutes, from an empty home to merged work of one's own. Wherever something goes wrong on the way,
// the page says what to do next.

import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { test as base, expect, FAKE_CLAUDE, World } from "./world";

/** Programs that a newcomer may have: an agent that is logged in, and one that is not. */
function installAgents(home: string): string {
  const bin = join(home, "bin");
  mkdirSync(bin);
  const program = (name: string, script: string): void => {
    writeFileSync(join(bin, name), `#!/bin/sh\n[ "$1" = --version ] && { echo 1.0.0; exit; }\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  program("claude", `exec ${FAKE_CLAUDE} "$@"`);
  mkdirSync(join(home, ".claude"));
  writeFileSync(join(home, ".claude", ".credentials.json"), '{"claudeAiOauth":{}}');
  program("cursor-agent", "echo \"Not logged in. Please run 'cursor-agent login' first.\" >&2; exit 1");
  return bin;
}

const test = base.extend({
  world: async ({}, use) => {
    const world = new World();
    await world.up({}, { PATH: [installAgents(world.forge.dir), process.env.PATH].join(delimiter) });
    await use(world);
    await world.forge.close();
  },
});

const column = (page: Page, name: string): Locator => page.getByRole("region", { name, exact: true });

async function openChanges(page: Page, title: string): Promise<void> {
  await column(page, "In review").getByRole("link", { name: title }).click();
  await page.getByRole("link", { name: /^Changes/ }).click();
}

async function merge(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Merge", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Merge", exact: true }).click();
  await expect(page.getByRole("region", { name: "Branch" }).getByText(/^Merged as [0-9a-f]{7}$/)).toBeVisible();
  // Nothing is left to do here, and the way on is offered.
  for (const name of ["Rebase", "Create PR", "Merge", "Review"]) {
    await expect(page.getByRole("button", { name, exact: true })).toHaveCount(0);
  }
  await page.getByRole("link", { name: "Back to the board" }).last().click();
}

test("the demo to its end: a comment is answered, a conflict resolved, and both are merged", async ({
  page,
  world,
}) => {
  await page.goto("/");
  await page.getByRole("button", { name: "Try the demo" }).click();
  await expect(column(page, "In review").getByRole("link")).toHaveCount(4, { timeout: 60_000 });
  const projectId = /projects\/([0-9a-f-]+)/.exec(page.url())?.[1] ?? "";
  const attemptOf = async (title: string): Promise<string> => {
    const task = (await world.client.listTasks(projectId)).find((each) => each.title === title);
    const [attempt] = await world.client.listTaskAttempts(task?.id ?? "");
    return attempt?.id ?? "";
  };

  // A comment on a line is answered by a change of that line.
  const greeting = await attemptOf("Greet the reader");
  await openChanges(page, "Greet the reader");
  const lines = page.getByRole("group", { name: /Lines of src\/greet\.py/ });
  await lines.getByText("dear reader").last().click();
  await page.keyboard.press("c");
  await page.keyboard.type('Replace "dear reader" by "friend".');
  await page.keyboard.press("Control+Enter");
  await page.getByRole("button", { name: "Review (1)" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Send to the agent" }).click();
  await expect
    .poll(async () => (await world.client.listExecutionProcesses(greeting)).length, { timeout: 30_000 })
    .toBeGreaterThan(1);
  await world.settled(greeting);
  await page.getByRole("link", { name: /^Changes/ }).click();
  await expect(page.getByRole("group", { name: /Lines of src\/greet\.py/ })).toContainText('names or ["friend"]');
  await expect(page.getByText(/notes\//)).toHaveCount(0);
  await merge(page);

  // What now stands against it is resolved by the agent.
  const description = await attemptOf("Describe the program");
  const card = column(page, "In review").getByRole("listitem").filter({ hasText: "Describe the program" });
  await expect(card.getByText("Conflict", { exact: true })).toBeVisible();
  await openChanges(page, "Describe the program");
  await page.getByRole("button", { name: "Rebase", exact: true }).click();
  const conflicts = page.getByRole("region", { name: "Conflicts" });
  await conflicts.getByRole("button", { name: "Ask the agent to resolve" }).click();
  await expect
    .poll(async () => (await world.client.listExecutionProcesses(description)).length, { timeout: 30_000 })
    .toBeGreaterThan(1);
  await world.settled(description);
  await page.getByRole("link", { name: /^Changes/ }).click();
  await expect(conflicts).toHaveCount(0);
  await merge(page);
  await expect(column(page, "Done").getByRole("link")).toHaveCount(2);
});

test("work of one's own: an agent without a login leads to one that works, and its work is merged", async ({
  page,
  world,
}) => {
  await page.goto("/");
  const repository = world.forge.repository("garden");
  await page.getByRole("button", { name: "Add a repository" }).click();
  const adding = page.getByRole("dialog", { name: "Add a repository" });
  await adding.getByRole("combobox", { name: "Folder" }).fill(repository);
  await adding.getByRole("button", { name: "Add", exact: true }).click();
  await expect(page.getByText("Write your first task")).toBeVisible();

  // What is chosen without a word can work; what cannot says why before it is started.
  await page.keyboard.press("n");
  const dialog = page.getByRole("dialog", { name: "New task" });
  await dialog.getByLabel("Title").fill("Plant a tree");
  await dialog.getByLabel("Description").fill("FAKE: id=tree file=tree.txt");
  await expect(dialog.getByRole("button", { name: "Agent: Claude Code", exact: true })).toBeVisible();
  await dialog.getByRole("button", { name: /^Agent: / }).click();
  await expect(page.getByRole("option", { name: "ACP" })).toHaveCount(0);
  await page
    .getByRole("option", { name: /^Cursor/ })
    .first()
    .click();
  await expect(dialog.getByRole("note")).toContainText("is not logged in");
  await dialog.getByRole("button", { name: "Start", exact: true }).click();

  // It fails, and says every way on.
  const box = page.getByRole("region", { name: "Set up the agent" });
  await expect(box.getByText(/is not logged in/)).toBeVisible();
  await expect(box.getByRole("button", { name: /^Copy cursor-agent/ })).toBeVisible();
  await box.getByRole("button", { name: "Check again" }).click();
  await expect(page.getByText(/is still not logged in/)).toBeVisible();
  await box.getByRole("button", { name: "Retry" }).click();
  await expect(page.getByRole("status").filter({ hasText: /^Failed/ })).toBeVisible();
  await expect(box).toHaveCount(1);
  // On the board it waits to be done, not to be reviewed.
  await page.getByRole("link", { name: "Back to the board" }).click();
  await expect(column(page, "To do").getByText("Failed")).toBeVisible();
  await column(page, "To do").getByRole("link", { name: "Plant a tree" }).click();

  // Another agent starts again, and its work lands.
  await box.getByRole("button", { name: "Switch agent" }).click();
  const other = page.getByRole("dialog", { name: "Switch agent" });
  await expect(other.getByRole("button", { name: "Agent: Claude Code", exact: true })).toBeVisible();
  await other.getByRole("button", { name: "Start", exact: true }).click();
  await expect(other).toHaveCount(0);
  await expect(page.getByRole("status").filter({ hasText: "Finished" })).toBeVisible({ timeout: 60_000 });
  await page.getByRole("link", { name: /^Changes/ }).click();
  await expect(page.getByRole("heading", { name: "tree.txt" })).toBeVisible();
  await merge(page);
  await expect(column(page, "Done").getByRole("link", { name: "Plant a tree" })).toBeVisible();
  const files = execFileSync("git", ["ls-tree", "--name-only", "main"], { cwd: repository, encoding: "utf8" });
  expect(files.split("\n")).toContain("tree.txt");
});
