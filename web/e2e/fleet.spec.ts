// The fleet with something in it: workers, beads, decisions and alerts.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expectUsable } from "./axe";
import { test as base, expect, World } from "./world";

const FLEET = { models: { premium: ["SCRIPTED"], standard: ["SCRIPTED"], budget: ["SCRIPTED"] } };

/** Workers have a tmux server of their own, which ends with the last of them. */
const test = base.extend({
  world: async ({}, use) => {
    const world = new World();
    await world.up({ fleet: FLEET }, { TMUX_TMPDIR: world.forge.dir });
    await use(world);
    for (const { id, phase } of await world.client.request("GET /api/workers", {})) {
      const path = { worker_id: id };
      if (phase === "running") await world.client.request("POST /api/workers/{worker_id}/kill", { path });
    }
    await world.forge.close();
  },
});

async function startWorker(world: World, id: string): Promise<void> {
  const script = join(world.forge.dir, `${id}.sh`);
  writeFileSync(script, `echo "hello from ${id}"; echo $$ >${id}.pid; exec sleep 600`);
  const workspace = world.forge.dir;
  const body = { id, launcher: "scripted", model: "none", workspace, env: { FORGE_SCRIPT: script } };
  await world.client.request("POST /api/workers", { body });
}

const pidOf = (world: World, id: string): number => {
  try {
    return Number(readFileSync(join(world.forge.dir, `${id}.pid`), "utf8"));
  } catch {
    return 0;
  }
};

test("workers are listed as they are, looked at and stopped, and the death of one is an alert", async ({
  page,
  world,
}) => {
  await startWorker(world, "alpha");
  await startWorker(world, "beta");
  await page.goto("/fleet");
  const workers = page.getByRole("region", { name: "Workers", exact: true });
  await expect(workers.getByRole("row")).toHaveCount(3);
  await expectUsable(page);
  await workers.getByRole("link", { name: "alpha" }).click();
  await expect(page.getByRole("region", { name: "Screen of the worker" })).toContainText("hello from alpha");
  await expectUsable(page);

  await expect.poll(() => pidOf(world, "beta")).toBeGreaterThan(0);
  process.kill(pidOf(world, "beta"), "SIGKILL");
  await expect(workers.getByRole("row").filter({ hasText: "beta" })).toContainText("Failed");
  await page
    .getByRole("navigation", { name: "Fleet" })
    .getByRole("link", { name: /^Alerts/ })
    .click();
  const alert = page.getByRole("listitem").filter({ hasText: "Worker crashed" });
  await expect(alert).toContainText("beta");
  await expectUsable(page);
  await alert.getByRole("button", { name: "Acknowledge" }).click();
  await expect(alert.getByText("Acknowledged")).toBeVisible();
  await alert.getByRole("link", { name: "Look at beta" }).click();
  await expect(page.getByRole("heading", { name: "beta" })).toBeVisible();
});

test("beads stand by what can be done with them, are given out, and the decision is explained", async ({
  page,
  world,
}) => {
  await world.addProject();
  mkdirSync(join(world.repository, ".beads"));
  const project_id = world.projectId;
  const bead = async (title: string, more: object = {}): Promise<string> => {
    const body = { project_id, title, description: "write done.txt x\nsay done", ...more };
    return (await world.client.request("POST /api/beads", { body })).id;
  };
  const floor = await bead("Lay the floor", { priority: 1, labels: ["house"] });
  await bead("Build the house", { depends_on: [floor] });
  await page.goto(`/fleet?view=beads&project=${project_id}`);
  const section = (name: RegExp) => page.getByRole("heading", { level: 2, name });
  await expect(section(/^Ready ?1$/)).toBeVisible();
  await expect(section(/^Blocked ?1$/)).toBeVisible();
  await expectUsable(page);
  await page.getByRole("link", { name: "Lay the floor" }).click();
  await expect(page.getByRole("heading", { name: "Lay the floor" })).toBeVisible();
  await expectUsable(page);

  await world.client.request("PUT /api/projects/{project_id}/dispatch", {
    path: { project_id },
    body: { enabled: true },
  });
  const query = { bead: floor, project_id };
  const outcome = async () => (await world.client.request("GET /api/routing/explain", { query }))[0]?.outcome;
  await expect.poll(outcome, { timeout: 60_000 }).toBe("closed");
  await page.getByRole("navigation", { name: "Fleet" }).getByRole("link", { name: "Routing" }).click();
  const decisions = page.getByRole("region", { name: "Routing decisions", exact: true });
  const decision = decisions.getByRole("link", { name: /Lay the floor/ });
  await expect(decision).toBeVisible();
  await expectUsable(page);
  await decision.click();
  await expect(page.getByRole("complementary").getByText("Scripted").first()).toBeVisible();
  await expectUsable(page);
});
