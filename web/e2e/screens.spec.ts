// Every place of the sidebar and the views of the fleet, in both themes and on a phone: accessible, nothing cut off, nothing in the console.

import { PLACES } from "../src/shell/places";
import { ATTEMPT_VIEWS, FLEET_VIEWS } from "../src/views";
import { expectAccessible, expectToFit, expectUsable, PHONE } from "./axe";
import { expect, test } from "./world";

const SCREENS: [name: string, path: string][] = [
  ...PLACES.map(({ label, to }): [string, string] => [label.toLowerCase(), to]),
  ...FLEET_VIEWS.map((view): [string, string] => [`fleet ${view}`, `/fleet?view=${view}`]),
];

for (const [name, path] of SCREENS) {
  test(`${name}: accessible in dark and light, and fits a phone`, async ({ page, world }) => {
    await world.addProject();
    await page.goto(path.replace("$projectId", world.projectId));
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await expectUsable(page);
  });
}

test("the projects page counts tasks without fetching them", async ({ page, world }) => {
  await world.addProject();
  for (const title of ["one", "two"]) await world.client.createTask(world.projectId, { title });
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await page.goto("/projects");
  await expect(page.getByText("2 to do")).toBeVisible();
  expect(asked.filter((path) => path.endsWith("/tasks") && path.startsWith("/api/"))).toEqual([]);
});

test("a question on a phone shows the whole command, and every part has its place", async ({ page, world }) => {
  await world.addProject();
  const agent = await world.useAskingAgent();
  const started = await world.start("May I", "FAKE: id=a approve=1 repeat=1 file=x.txt", agent);
  await page.setViewportSize(PHONE);
  await page.goto(world.attemptUrl(started));
  const bar = page.getByRole("region", { name: "The agent waits for your answer" });
  const command = await bar.getByText("rm -rf build").boundingBox();
  const left = await bar.getByText(/ left$/).boundingBox();
  const allow = await bar.getByRole("button", { name: /^Allow( A)?$/ }).boundingBox();
  if (!command || !left || !allow) throw new Error("something is not drawn");
  expect(command.width).toBeGreaterThan(60);
  expect(Math.max(command.y + command.height, left.y + left.height)).toBeLessThanOrEqual(allow.y + 1);
  await expectToFit(page);
  await expectAccessible(page);
});

test("on a low screen the changes of a stopped rebase can be read", async ({ page, world }) => {
  await world.addProject();
  const one = await world.finish("One way", "write README.md # one\\n\nsay done");
  const other = await world.finish("Another way", "write README.md # another\\n\nsay done");
  await world.client.mergeTaskAttempt(one.task_attempt.id);
  await world.client.rebaseTaskAttempt(other.task_attempt.id).catch(() => {});
  // 1440 by 900 at twice the size.
  await page.setViewportSize({ width: 720, height: 450 });
  await page.goto(world.attemptUrl(other, "diffs"));
  await expect(page.getByRole("region", { name: "Conflicts" })).toBeVisible();
  const line = page.getByText("# another", { exact: true });
  await line.scrollIntoViewIfNeeded();
  await expect(line).toBeInViewport();
  await expect(page.getByRole("heading", { name: "README.md" })).toBeInViewport();
  await expectAccessible(page);
});

test("the way of a task fits a phone: board, task, log, changes", async ({ page, world }) => {
  await world.addProject();
  const started = await world.finish(
    "Write",
    "say A rather long word: Donaudampfschifffahrtsgesellschaft\nwrite src/a.ts export const a = 1;\\n\nsay done",
  );
  await page.setViewportSize(PHONE);
  for (const path of [world.boardUrl(), ...ATTEMPT_VIEWS.map((view) => world.attemptUrl(started, view))]) {
    await page.goto(path);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await expect(page.getByText(/Write|done/).first()).toBeVisible();
    await expectToFit(page);
    await expectAccessible(page);
  }
  // A button that always shows on a phone covers no word.
  await page.goto(world.attemptUrl(started));
  const message = page.getByRole("article", { name: "Message from the agent" }).filter({ hasText: "Donau" });
  const words = await message.getByText("Donau").boundingBox();
  const copy = await message.getByRole("button", { name: "Copy message" }).boundingBox();
  if (!words || !copy) throw new Error("something is not drawn");
  expect(words.x + words.width).toBeLessThanOrEqual(copy.x);
  await page.goto(world.boardUrl());
  await page.getByRole("button", { name: "New task" }).click();
  await expect(page.getByRole("dialog", { name: "New task" })).toBeVisible();
  await expectToFit(page);
  await expectAccessible(page);
});
