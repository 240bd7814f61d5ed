import { expect, it } from "vitest";
import { presetsOf } from "./mcp-presets";

it("offers what this agent can be given, and not what is only described", () => {
  const meta = { forge: { name: "Forge", description: "Tasks" }, other: { name: "Other" } };
  expect(presetsOf({ forge: { command: "npx" }, bare: { url: "u" }, meta })).toEqual([
    { id: "forge", name: "Forge", about: "Tasks", server: { command: "npx" } },
    { id: "bare", name: "bare", about: "", server: { url: "u" } },
  ]);
  expect(presetsOf(null)).toEqual([]);
});
