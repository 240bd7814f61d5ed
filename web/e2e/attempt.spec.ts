// An attempt, watched and talked to.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expectAccessible } from "./axe";
import { expect, test } from "./world";

test("the transcript is live, and what agents say is never run", async ({ page, world }) => {
  await world.addProject();
  const script = [
    "think Hm.",
    'say <img src=x onerror="window.wasRun=1"> and <script>window.wasRun=1</script> **bold**',
    "run echo tool-output",
    world.gate("go"),
    "say The last word",
  ].join("\n");
  const started = await world.start("Talk", script);
  await page.goto(world.attemptUrl(started));
  const log = page.getByRole("region", { name: "Transcript" });
  await expect(page.getByRole("status").filter({ hasText: "Running" })).toBeVisible();
  await expect(log.locator("strong", { hasText: "bold" }).last()).toBeVisible();
  world.allow("go");
  await expect(log.getByText("The last word", { exact: true })).toBeVisible();
  await expect(page.getByRole("status").filter({ hasText: "Finished" })).toBeVisible();
  await page.getByRole("button", { name: /Ran echo tool-output/ }).click();
  await expect(page.getByText("tool-output", { exact: true }).last()).toBeVisible();
  expect(await page.evaluate(() => "wasRun" in window)).toBe(false);
  await expectAccessible(page);
});

test("a question is shown on every screen and answered where it was asked", async ({ page, world }) => {
  await world.addProject();
  const agent = await world.useAskingAgent();
  const started = await world.start("May I", "FAKE: id=a approve=1 repeat=1 file=x.txt", agent);
  await page.goto(world.boardUrl());
  await expect(page).toHaveTitle(/^\(1\) /);
  // It still runs, and nothing is in review: it stays where it can be helped.
  const progress = page.getByRole("region", { name: "In progress" });
  await expect(progress.getByText("Needs your answer")).toBeVisible();
  await page.getByRole("link", { name: "1 waiting for you" }).click();
  await expect(page).toHaveURL(new RegExp(started.task_attempt.id));
  await expect(page.getByText("Claude Code · Approvals").first()).toBeVisible();
  await page.goto("/projects");
  await page.getByRole("button", { name: "1 waiting for you" }).click();
  const bar = page.getByRole("region", { name: "The agent waits for your answer" });
  await expect(bar.getByText("rm -rf build")).toBeVisible();
  // The transcript says what is asked; it is answered in one place.
  await expect(page.getByRole("region", { name: "Question" })).toContainText("rm -rf build");
  await expect(page.getByRole("button", { name: /^Allow( A)?$/ })).toHaveCount(1);
  await expectAccessible(page);
  await bar.getByRole("button", { name: /^Allow( A)?$/ }).click();
  await expect(bar).toHaveCount(0);
  await expect(page).not.toHaveTitle(/^\(1\)/);
  await expect(page.getByRole("status").filter({ hasText: "Finished" })).toBeVisible();
});

test("a refusal carries its reason to the agent, by keys alone", async ({ page, world }) => {
  await world.addProject();
  const agent = await world.useAskingAgent();
  const started = await world.start("May I", "FAKE: id=a approve=1 repeat=1 file=x.txt", agent);
  await page.goto(world.attemptUrl(started));
  await expect(page.getByRole("region", { name: "The agent waits for your answer" })).toBeVisible();
  await page.keyboard.press("d");
  await page.keyboard.type("use the trash instead");
  await page.keyboard.press("Enter");
  await expect(page.getByText("use the trash instead").first()).toBeVisible();
  await expect(page.getByRole("status").filter({ hasText: "Finished" })).toBeVisible();
});

test("a message waits for the agent's end, and a stop stops", async ({ page, world }) => {
  await world.addProject();
  const started = await world.start("Wait", "say working\nhang");
  await page.goto(world.attemptUrl(started));
  await expect(page.getByRole("region", { name: "Transcript" }).getByText("working", { exact: true })).toBeVisible();
  await page.getByLabel("Message to Scripted").fill("say second turn");
  await page.getByRole("button", { name: "Send after this turn" }).click();
  await expect(page.getByRole("region", { name: "Queued message" })).toContainText("say second turn");
  await page.reload();
  await expect(page.getByRole("region", { name: "Queued message" })).toContainText("say second turn");
  await page.getByRole("button", { name: /^Stop/ }).click();
  await expect(page.getByRole("status").filter({ hasText: "Stopped" })).toBeVisible();
  const processes = await world.client.listExecutionProcesses(started.task_attempt.id);
  expect(processes.every(({ status }) => status !== "running")).toBe(true);
});

test("a follow-up continues the conversation", async ({ page, world }) => {
  await world.addProject();
  const started = await world.finish("Talk", "say first turn");
  await page.goto(world.attemptUrl(started));
  await page.getByLabel("Message to Scripted").fill("say second turn");
  await page.keyboard.press("Control+Enter");
  await expect(page.getByText("second turn", { exact: true }).last()).toBeVisible();
  await expect(page.getByLabel("Message to Scripted")).toHaveValue("");
});

test("only the open view is marked, and the way to the task does not lead back", async ({ page, world }) => {
  await world.addProject();
  const started = await world.finish("Look around", "write a.txt one");
  await page.goto(world.attemptUrl(started));
  const views = page.getByRole("navigation", { name: "Views of the attempt" });
  const open = views.locator("[aria-current=page]");
  for (const name of ["Log", "Raw", "Changes", "Processes"]) {
    await views.getByRole("link", { name }).click();
    await expect(open).toHaveCount(1);
    await expect(open).toContainText(name);
  }
  await page.getByRole("link", { name: "Look around" }).click();
  await expect(page.getByRole("button", { name: "Start another attempt" })).toBeVisible();
  await expect(page).toHaveURL(/stay=true/);
});

test("a hundred thousand lines are followed to the end, and only what is seen is drawn", async ({ page, world }) => {
  await world.addProject();
  const started = await world.start("Flood", "run seq 1 1000\nlines 100000 40\nsay after the flood");
  await page.goto(world.attemptUrl(started, "raw"));
  await world.settled(started.task_attempt.id);
  await expect(page.getByText(/after the flood/).last()).toBeVisible({ timeout: 60_000 });
  const drawn = await page.locator("[data-line]").count();
  expect(drawn).toBeGreaterThan(10);
  expect(drawn).toBeLessThan(400);
});

test("what a shell gets and what it writes is shown letter by letter, with its colours", async ({ page, world }) => {
  await world.addProject();
  const script = "echo '# no heading'\necho __init__.py src/*/*.ts\nprintf 'a    b\\n\\033[31mred\\033[0m\\n'";
  const started = await world.start("Letter by letter", script, "SHELL");
  await world.settled(started.task_attempt.id);
  await page.goto(world.attemptUrl(started));
  const log = page.getByRole("region", { name: "Transcript" });
  expect(await log.getByRole("article", { name: "Message to the agent" }).locator("pre").textContent()).toBe(script);
  const output = log.getByRole("article", { name: "Output" }).locator("pre");
  await expect(output).toHaveText("# no heading\n__init__.py src/*/*.ts\na    b\nred", { useInnerText: true });
  await expect(output.locator(".text-bad")).toHaveText("red");
  await expect(log.locator("h1, h2, strong, em")).toHaveCount(0);
});

test("an agent without a login leads on, also in a variant", async ({ page, world }) => {
  await world.addProject();
  const program = join(world.forge.dir, "claude");
  const answer = { type: "result", subtype: "success", is_error: true, result: "Not logged in · Please run /login" };
  writeFileSync(program, `#!/bin/sh\necho '${JSON.stringify(answer)}'\nexit 1\n`, { mode: 0o755 });
  const options = { approvals: true, base_command_override: program };
  await world.client.updateExecutorProfiles({ executors: { CLAUDE_CODE: { APPROVALS: { CLAUDE_CODE: options } } } });
  const started = await world.start("Knock", "Knock", "CLAUDE_CODE:APPROVALS");
  await page.goto(world.attemptUrl(started));
  const box = page.getByRole("region", { name: "Set up the agent" });
  await expect(box).toHaveCount(1);
  for (const name of ["Check again", "Retry", "Switch agent"]) {
    await expect(box.getByRole("button", { name })).toBeVisible();
  }
  await expect(box.getByRole("button", { name: /^Copy / })).toBeVisible();
  await expectAccessible(page);
  // The menu of the message box knows the variants of the agent, and which one it is.
  await page.getByRole("button", { name: /^Options for the next turn: Claude Code · Approvals/ }).click();
  await expect(page.getByRole("menuitem", { name: "Plan" })).toBeVisible();
});
