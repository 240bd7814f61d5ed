// WCAG 2.2 AA as axe sees it, on the page as it stands.

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
  const found = await page.evaluate(async (rules) => {
    const { axe } = window as unknown as {
      axe: { run: (context: Document, options: object) => Promise<{ violations: Found[] }> };
    };
    return (await axe.run(document, { runOnly: rules })).violations;
  }, RULES);
  const told = found.map(
    ({ id, help, nodes }) =>
      `${id}: ${help}\n${nodes.map((node) => `  ${node.target.join(" ")}\n  ${node.failureSummary}`).join("\n")}`,
  );
  expect(told, `accessibility of ${page.url()}`).toEqual([]);
}
