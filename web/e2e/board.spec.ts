// The board: live, found through, moved about, also by keys alone, also when it is large.

import { expectAccessible } from "./axe";
import { expect, test } from "./world";

test("tasks appear, move and change without a reload", async ({ page, world }) => {
  await world.addProject();
  await page.goto(world.boardUrl());
  await expect(page.getByText("Write your first task")).toBeVisible();
  const task = await world.client.createTask(world.projectId, { title: "Plant a tree", labels: ["garden"] });
  const column = (name: string) => page.getByRole("region", { name });
  await expect(column("To do").getByRole("link", { name: "Plant a tree" })).toBeVisible();
  await expect(column("To do").getByText("garden")).toBeVisible();
  await world.client.updateTask(world.projectId, task.id, { status: "done" });
  await expect(column("Done").getByRole("link", { name: "Plant a tree" })).toBeVisible();
  await world.client.deleteTask(world.projectId, task.id);
  await expect(page.getByRole("link", { name: "Plant a tree" })).toHaveCount(0);
});

test("a card shows agent, state and changes, which tasks overlap, and what conflicts with the target", async ({
  page,
  world,
}) => {
  await world.addProject();
  const one = await world.finish("One way", "write README.md # one\\n\nsay done");
  await world.finish("Another way", "write README.md # another\\n\nsay done");
  await page.goto(world.boardUrl());
  const review = page.getByRole("region", { name: "In review" });
  await expect(review.getByText("Scripted").first()).toBeVisible();
  await expect(review.getByText("+1").first()).toBeVisible();
  const overlaps = review.getByRole("button", { name: /^Overlaps 1/ });
  await expect(overlaps).toHaveCount(2);
  await expect(review.getByText("Conflict", { exact: true })).toHaveCount(0);
  await expectAccessible(page);
  // By keys: from the card to its number, and the names of tasks in it.
  await review.getByRole("link", { name: "Another way" }).focus();
  const other = review.getByRole("listitem").filter({ hasText: "Another way" });
  await other.getByRole("button", { name: /^Overlaps 1/ }).focus();
  await page.keyboard.press("Enter");
  const names = page.getByRole("dialog", { name: "Tasks that change the same lines" });
  await expect(names.getByRole("link", { name: "One way" })).toBeVisible();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  // What lands turns the other into a conflict, on the board that is open.
  await world.client.mergeTaskAttempt(one.task_attempt.id);
  await expect(other.getByText("Conflict", { exact: true })).toBeVisible();
  await expect(overlaps).toHaveCount(0);
});

test("a run that failed without changes goes back to To do, and can be started from there", async ({ page, world }) => {
  await world.addProject();
  await world.start("Break", "exit 3", "SHELL");
  await page.goto(world.boardUrl());
  const todo = page.getByRole("region", { name: "To do" });
  await expect(todo.getByText("Failed")).toBeVisible();
  await expect(page.getByRole("region", { name: "In review" }).getByRole("link")).toHaveCount(0);
  await todo.getByRole("button", { name: "Actions for Break" }).click();
  await expect(page.getByRole("menuitem", { name: /Start/ })).toBeVisible();
  await page.keyboard.press("Escape");
  // With changes there is something to review.
  await world.start("Break halfway", "echo x > x.txt; exit 3", "SHELL");
  const review = page.getByRole("region", { name: "In review" });
  await expect(review.getByRole("link", { name: "Break halfway" })).toBeVisible();
  await expect(review.getByText("Failed")).toBeVisible();
});

test("search and filters narrow the board and stand in the address", async ({ page, world }) => {
  await world.addProject();
  for (const [title, label] of [
    ["Fix the cart", "shop"],
    ["Fix the login", "door"],
    ["Paint the cart", "shop"],
  ] as const) {
    await world.client.createTask(world.projectId, { title, labels: [label] });
  }
  await page.goto(world.boardUrl());
  await expect(page.getByRole("link", { name: "Fix the login" })).toBeVisible();
  await page.keyboard.press("/");
  await page.keyboard.type("cart");
  await expect(page.getByRole("link", { name: "Fix the login" })).toHaveCount(0);
  await expect(page).toHaveURL(/q=cart/);
  await page.reload();
  await expect(page.getByRole("link", { name: "Paint the cart" })).toBeVisible();
  await expect(page.getByRole("link", { name: "Fix the login" })).toHaveCount(0);
  await page.goto(`${world.boardUrl()}?label=door`);
  await expect(page.getByRole("link", { name: "Fix the login" })).toBeVisible();
  await expect(page.getByRole("link", { name: "Fix the cart" })).toHaveCount(0);
});

test("a card is dragged to another column", async ({ page, world }) => {
  await world.addProject();
  const { id } = await world.client.createTask(world.projectId, { title: "Drag me" });
  await page.goto(world.boardUrl());
  const card = page.getByRole("link", { name: "Drag me" });
  const from = await card.boundingBox();
  const to = await page.getByRole("region", { name: "Done" }).boundingBox();
  if (!from || !to) throw new Error("nothing to drag");
  await page.mouse.move(from.x + 20, from.y + 8);
  await page.mouse.down();
  await page.mouse.move(from.x + 60, from.y + 40, { steps: 5 });
  await page.mouse.move(to.x + to.width / 2, to.y + 120, { steps: 12 });
  await page.mouse.up();
  await expect(page.getByRole("region", { name: "Done" }).getByRole("link", { name: "Drag me" })).toBeVisible();
  await expect.poll(async () => (await world.client.getTask(world.projectId, id)).status).toBe("done");
});

test("everything on the board works by keys alone", async ({ page, world }) => {
  await world.addProject();
  await world.client.createTask(world.projectId, { title: "First" });
  await page.goto(world.boardUrl());
  await expect(page.getByRole("link", { name: "First" })).toBeVisible();
  await page.keyboard.press("n");
  const dialog = page.getByRole("dialog", { name: "New task" });
  await expect(dialog.getByLabel("Title")).toBeFocused();
  await page.keyboard.type("Written by keys");
  await dialog.getByRole("button", { name: "Add to To do" }).focus();
  await page.keyboard.press("Enter");
  await expect(dialog).toHaveCount(0);
  const card = page.getByRole("link", { name: "Written by keys" });
  await expect(card).toBeVisible();
  await page.keyboard.press("j");
  await expect(page.locator("a[data-task]:focus")).toHaveCount(1);
  for (let step = 0; step < 3 && !(await card.evaluate((node) => node === document.activeElement)); step++) {
    await page.keyboard.press(step === 0 ? "k" : "j");
  }
  await expect(card).toBeFocused();
  await page.keyboard.press("]");
  await expect(
    page.getByRole("region", { name: "In progress" }).getByRole("link", { name: "Written by keys" }),
  ).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Written by keys" })).toBeVisible();
  await page.keyboard.press("g");
  await page.keyboard.press("c");
  await expect(page).toHaveURL(/\/costs/);
});

test("a board of a thousand tasks draws only what is seen, and finds any of them", async ({ page, world }) => {
  await world.addProject();
  const titles = Array.from({ length: 1000 }, (_, at) => `Task number ${at}`);
  while (titles.length > 0) {
    await Promise.all(titles.splice(0, 20).map((title) => world.client.createTask(world.projectId, { title })));
  }
  await page.goto(world.boardUrl());
  const todo = page.getByRole("region", { name: "To do" });
  await expect(todo.getByRole("link").first()).toBeVisible();
  await expect(todo.getByText("1,000")).toBeVisible();
  expect(await page.locator("a[data-task]").count()).toBeLessThan(60);
  await page.keyboard.press("/");
  await page.keyboard.type("number 7");
  await expect(todo.getByText("271", { exact: true })).toBeVisible();
  await page.keyboard.type("77");
  await expect(todo.getByRole("link", { name: "Task number 777" })).toBeVisible();
});
