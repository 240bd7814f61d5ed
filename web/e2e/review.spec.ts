// Reviewing and landing: comments, merge, conflicts, pull requests, restore.

import { execFileSync } from "node:child_process";
import { expectAccessible } from "./axe";
import { expect, test } from "./world";

test("comments on lines reach the agent as one message", async ({ page, world }) => {
  await world.addProject();
  const started = await world.finish("Write", "write src/a.ts export const a = 1;\\nexport const b = 2;\\n\nsay done");
  await page.goto(world.attemptUrl(started, "diffs"));
  await expect(page.getByText("export const b = 2;")).toBeVisible();
  const lines = page.getByRole("group", { name: /Lines of src\/a\.ts/ });
  await lines.focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("c");
  await page.keyboard.type("Why two?");
  await page.keyboard.press("Control+Enter");
  await expect(page.getByText("Pending")).toBeVisible();
  await page.reload();
  await expect(page.getByText("Why two?")).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: /Review/ }).click();
  const tray = page.getByRole("dialog");
  await tray.getByLabel("Overall comment").fill("say I read it");
  await tray.getByRole("button", { name: /Send/ }).click();
  await expect(tray).toHaveCount(0);
  await world.settled(started.task_attempt.id);
  const processes = await world.client.listExecutionProcesses(started.task_attempt.id);
  const prompt = JSON.stringify(processes.at(-1)?.executor_action);
  expect(prompt).toContain("src/a.ts");
  expect(prompt).toContain("Why two?");
  expect(prompt).toContain("export const b = 2;");
});

test("a merge lands one commit on the target", async ({ page, world }) => {
  await world.addProject();
  const started = await world.finish("Write", "write a.txt one\\n\nsay done");
  await page.goto(world.attemptUrl(started, "diffs"));
  await page.getByRole("button", { name: "Merge", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Commit message").fill("Write a file");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Merge" }).click();
  await expect(page.getByRole("region", { name: "Branch" }).getByText("Merged")).toBeVisible();
  const log = execFileSync("git", ["log", "--format=%s", "main"], { cwd: world.repository, encoding: "utf8" });
  expect(log.split("\n")[0]).toBe("Write a file");
  await page.goto(world.boardUrl());
  await expect(page.getByRole("region", { name: "Done" }).getByRole("link", { name: "Write" })).toBeVisible();
});

test("a conflict is shown, handed to the agent, and resolved", async ({ page, world }) => {
  await world.addProject();
  const one = await world.finish("One way", "write README.md # one\\n\nsay done");
  const other = await world.finish("Another way", "write README.md # another\\n\nsay done");
  await world.client.mergeTaskAttempt(one.task_attempt.id);
  await page.goto(world.attemptUrl(other, "diffs"));
  await page.getByRole("button", { name: "Rebase", exact: true }).click();
  const panel = page.getByRole("region", { name: "Conflicts" });
  await expect(panel.getByText("README.md")).toBeVisible();
  await expect(page.getByRole("heading", { name: "README.md" })).toBeVisible();
  await expectAccessible(page);
  await panel.getByRole("button", { name: "Ask the agent to resolve" }).click();
  await expect(page).not.toHaveURL(/view=diffs/);
  await world.settled(other.task_attempt.id);
  await page.getByRole("link", { name: /^Changes/ }).click();
  await expect(page.getByRole("button", { name: "Merge", exact: true })).toBeEnabled();
  await expect(panel).toHaveCount(0);
});

test("a conflict that the agent leaves open is said where its turn ended, with the ways on", async ({
  page,
  world,
}) => {
  await world.addProject();
  // It follows directives, and the request to resolve has none.
  const agent = await world.useAskingAgent();
  const one = await world.start("One way", "FAKE: id=one file=README.md", agent);
  const other = await world.start("Another way", "FAKE: id=other file=README.md", agent);
  for (const { task_attempt } of [one, other]) await world.settled(task_attempt.id);
  await world.client.mergeTaskAttempt(one.task_attempt.id);
  await page.goto(world.attemptUrl(other, "diffs"));
  await page.getByRole("button", { name: "Rebase", exact: true }).click();
  const panel = page.getByRole("region", { name: "Conflicts" });
  await panel.getByRole("button", { name: "Ask the agent to resolve" }).click();
  await expect(page).not.toHaveURL(/view=diffs/);
  await expect(panel.getByText("The agent finished, but README.md still has conflicts")).toBeVisible();
  for (const name of ["Try again", "Open in editor", "Abort"]) {
    await expect(panel.getByRole("button", { name })).toBeVisible();
  }
  await expectAccessible(page);
  await panel.getByRole("button", { name: "Abort" }).click();
  await page.getByRole("dialog", { name: "Abort the rebase?" }).getByRole("button", { name: "Abort" }).click();
  await expect(panel).toHaveCount(0);
});

test("a pull request needs a remote, and one that is refused says why once", async ({ page, world, forgiven }) => {
  forgiven.push(/status of 4\d\d/);
  await world.addProject();
  const started = await world.finish("Publish", "write a.txt one\\n\nsay done");
  await page.goto(world.attemptUrl(started, "diffs"));
  const create = page.getByRole("button", { name: "Create PR" });
  await expect(create).toHaveAttribute("title", /no remote.*git remote add origin/);
  await expect(create).toBeDisabled();
  execFileSync("git", ["remote", "add", "origin", "/nowhere"], { cwd: world.repository });
  await page.reload();
  await create.click();
  const dialog = page.getByRole("dialog", { name: "Create a pull request" });
  await dialog.getByRole("button", { name: "Push and create" }).click();
  await expect(dialog.getByRole("alert")).toBeVisible();
  const said = (await dialog.getByRole("alert").textContent()) ?? "";
  await expect(page.getByText(said, { exact: true })).toHaveCount(1);
});

test.describe("with a code host", () => {
  test.use({ codeHost: true });

  test("a pull request is opened at the code host, and its state shown", async ({ page, world }) => {
    const started = await world.finish("Publish", "write a.txt one\\n\nsay done");
    await page.goto(world.attemptUrl(started, "diffs"));
    await page.getByRole("button", { name: "Create PR" }).click();
    const dialog = page.getByRole("dialog", { name: "Create a pull request" });
    await expect(dialog.getByLabel("Title")).not.toHaveValue("");
    await dialog.getByRole("button", { name: "Push and create" }).click();
    await expect(page.getByRole("link", { name: /#1 open/ })).toBeVisible();
  });

  test("a task is taken from an issue of the code host, with its labels", async ({ page, world }) => {
    await page.goto(`${world.boardUrl()}?new=true`);
    const dialog = page.getByRole("dialog", { name: "New task" });
    await dialog.getByText("From GitHub issue").click();
    await dialog.getByLabel("Issue", { exact: true }).fill("7");
    await dialog.getByRole("button", { name: "Add to To do" }).click();
    const column = page.getByRole("region", { name: "To do" });
    await expect(column.getByRole("link", { name: /Greet politely/ })).toBeVisible();
    await expect(column.getByText("manners")).toBeVisible();
  });
});

test("a retired worktree comes back from its review", async ({ page, world }) => {
  await world.addProject();
  const started = await world.finish("Write", "write a.txt one\\n\nsay done");
  const path = { attempt_id: started.task_attempt.id };
  await world.client.request("POST /api/worktrees/{attempt_id}/retire", { path });
  await page.goto(world.attemptUrl(started, "diffs"));
  await page.getByRole("button", { name: "Restore" }).first().click();
  await expect.poll(async () => (await world.client.getTaskAttempt(path.attempt_id)).worktree_deleted).toBe(false);
  await expect(page.getByText("a.txt").first()).toBeVisible();
});
