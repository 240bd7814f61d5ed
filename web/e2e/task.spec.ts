// Writing a task and starting it.

import { expectAccessible } from "./axe";
import { expect, test } from "./world";

test("a task is written, given to an agent, and watched", async ({ page, world }) => {
  await world.addProject();
  await page.goto(`${world.boardUrl()}?new=true`);
  const dialog = page.getByRole("dialog", { name: "New task" });
  await dialog.getByLabel("Title").fill("Say hello");
  await dialog
    .getByLabel("Description")
    .fill("say Looking around\nrun echo from-the-shell\nwrite hello.txt hello\\n\nsay All done");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: /^Agent/ }).click();
  await page.getByRole("option", { name: /Scripted/ }).click();
  await dialog.getByRole("button", { name: "Start", exact: true }).click();
  await expect(page).toHaveURL(/\/attempts\/[0-9a-f-]{36}/);
  await expect(page.getByRole("region", { name: "Transcript" }).getByText("All done", { exact: true })).toBeVisible();
  await page.getByRole("link", { name: /Changes/ }).click();
  await expect(page.getByText("hello.txt").first()).toBeVisible();
});

test("several attempts at once are begun together and held side by side", async ({ page, world }) => {
  await world.addProject();
  await page.goto(`${world.boardUrl()}?new=true`);
  const dialog = page.getByRole("dialog", { name: "New task" });
  await dialog.getByLabel("Title").fill("Best of two");
  await dialog.getByLabel("Description").fill("write a.txt one\nsay done");
  await dialog.getByRole("button", { name: /^Agent/ }).click();
  await page.getByRole("option", { name: /Scripted/ }).click();
  await dialog.getByRole("button", { name: "More attempts" }).click();
  await dialog.getByRole("button", { name: "Start", exact: true }).click();
  await expect(page).toHaveURL(/\/tasks\/[0-9a-f-]{36}\?stay=true/);
  const [task] = await world.client.listTasks(world.projectId);
  const attempts = await world.client.listTaskAttempts(task?.id);
  expect(attempts).toHaveLength(2);
  for (const { id } of attempts) await world.settled(id);
  await page.goto(`${world.boardUrl()}/${task?.id}/compare?a=${attempts[0]?.id}&b=${attempts[1]?.id}`);
  await expect(page.getByText("a.txt").first()).toBeVisible();
  await expectAccessible(page);
});

test("what was typed survives closing the dialog and reloading the page", async ({ page, world }) => {
  await world.addProject();
  await page.goto(`${world.boardUrl()}?new=true`);
  const dialog = page.getByRole("dialog", { name: "New task" });
  await dialog.getByLabel("Title").fill("Half a thought");
  await dialog.getByLabel("Description").fill("that must not be lost");
  await page.reload();
  await expect(dialog.getByLabel("Title")).toHaveValue("Half a thought");
  await expect(dialog.getByLabel("Description")).toHaveValue("that must not be lost");
});

test("a file is mentioned by typing @, and an image pasted", async ({ page, world }) => {
  await world.addProject();
  await page.goto(`${world.boardUrl()}?new=true`);
  const dialog = page.getByRole("dialog", { name: "New task" });
  await dialog.getByLabel("Title").fill("Look at it");
  const description = dialog.getByLabel("Description");
  await description.pressSequentially("See @READ");
  await page.getByRole("option", { name: /README\.md/ }).click();
  await expect(description).toHaveValue(/See @?README\.md/);
  await description.evaluate((box) => {
    const png = Uint8Array.from(
      atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="),
      (c) => c.charCodeAt(0),
    );
    const data = new DataTransfer();
    data.items.add(new File([png], "dot.png", { type: "image/png" }));
    box.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  });
  await expect(dialog.getByRole("img", { name: /dot\.png/ })).toBeVisible();
  await dialog.getByRole("button", { name: "Add to To do" }).click();
  await expect(dialog).toHaveCount(0);
  const [task] = await world.client.listTasks(world.projectId);
  expect(await world.client.getTaskImages(task?.id ?? "")).toHaveLength(1);
});
