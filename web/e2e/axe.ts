// Whether everybody can use the page as it stands: WCAG 2.2 AA as axe sees it, and nothing cut off.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "@playwright/test";
import { expect } from "./world";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

interface Found {
  id: string;
  help: string;
  nodes: { target: string[]; failureSummary: string }[];
}

export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(source);
  // What is still fading in is judged when it is there.
  await page.evaluate(async () => {
    const ends = (animation: Animation) => animation.effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY;
    await Promise.allSettled(
      document
        .getAnimations()
        .filter(ends)
        .map(({ finished }) => finished),
    );
  });
  const found = await page.evaluate(async (rules) => {
    const { axe } = window as unknown as {
      axe: { run: (context: Document, options: object) => Promise<{ violations: Found[] }> };
    };
    return (await axe.run(document, { runOnly: rules })).violations;
  }, RULES);
  const faults = found.map(
    ({ id, help, nodes }) =>
      `${id}: ${help}\n${nodes.map((node) => `  ${node.target.join(" ")}\n  ${node.failureSummary}`).join("\n")}`,
  );
  expect(faults, `accessibility of ${page.url()}`).toEqual([]);
}

export const PHONE = { width: 390, height: 844 };

/** Nothing is wider than the page. */
export async function expectToFit(page: Page): Promise<void> {
  const [shown, whole] = await page.evaluate(() => [
    document.documentElement.clientWidth,
    document.documentElement.scrollWidth,
  ]);
  expect(whole, `width of ${page.url()}`).toBeLessThanOrEqual(shown ?? 0);
}

/** In both themes and on a phone; the page is as large as before afterwards. */
export async function expectUsable(page: Page): Promise<void> {
  const size = page.viewportSize();
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    await expectAccessible(page);
  }
  await page.setViewportSize(PHONE);
  await expectToFit(page);
  await expectAccessible(page);
  if (size) await page.setViewportSize(size);
}
