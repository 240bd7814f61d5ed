// Costs with something to count.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expectUsable } from "./axe";
import { expect, test } from "./world";

/** Spends the given dollars and ends. */
const spender = (dollars: number): string => {
  const usage = { inputTokens: 1200, outputTokens: 300, costUSD: dollars };
  const lines = [
    { type: "system", subtype: "init", session_id: "s-1", model: "some-model" },
    {
      type: "result",
      subtype: "success",
      is_error: false,
      result: "done",
      session_id: "s-1",
      total_cost_usd: dollars,
      modelUsage: { "some-model": usage },
    },
  ];
  return `#!/bin/sh\n${lines.map((line) => `echo '${JSON.stringify(line)}'`).join("\n")}\n`;
};

test("what was spent is summed, grouped, led back to its tasks and exported", async ({ page, world }) => {
  await world.addProject();
  const program = join(world.forge.dir, "spender");
  const options = { base_command_override: program };
  await world.client.updateExecutorProfiles({ executors: { CLAUDE_CODE: { GENIE: { CLAUDE_CODE: options } } } });
  for (const [title, dollars] of [
    ["Cheap", 1],
    ["Dear", 3],
  ] as const) {
    writeFileSync(program, spender(dollars), { mode: 0o755 });
    const started = await world.start(title, "Spend", "CLAUDE_CODE");
    await world.settled(started.task_attempt.id);
  }
  await page.goto("/costs");
  await expect(page.getByText("$4.00 in total")).toBeVisible();
  const row = (table: string, name: string) =>
    page.getByRole("region", { name: table, exact: true }).getByRole("row").filter({ hasText: name });
  await expect(row("By model", "some-model")).toContainText("$4.00");
  await expect(row("Most expensive tasks", "Dear")).toContainText("75");
  await expectUsable(page);

  await page.getByRole("combobox", { name: "Group" }).selectOption("By project");
  await expect(row("By project", "Shop")).toContainText("$4.00");
  await page.getByRole("button", { name: "Table" }).click();
  await expectUsable(page);

  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Export CSV" }).click(),
  ]);
  expect(readFileSync(await file.path(), "utf8")).toContain("Shop");
  await row("Most expensive tasks", "Dear").getByRole("link", { name: "Dear" }).click();
  await expect(page).toHaveURL(/\/tasks\/[0-9a-f-]{36}/);
});
