import type { Diff } from "@forge/client";
import { expect, test } from "vitest";
import type { ChangedFile } from "../../live/diff";
import { bothSides } from "./sides";

const file = (path: string): ChangedFile => ({ path, revision: 1, diff: { change: "modified" } as Diff });

test("files that both changed come first, as one row", () => {
  const rows = bothSides([file("b.ts"), file("a10.ts")], [file("b.ts"), file("a2.ts")]);
  expect(rows.map(({ path, who }) => `${path} ${who}`)).toEqual(["b.ts both", "a2.ts b", "a10.ts a"]);
  expect(rows[0]?.a?.path).toBe(rows[0]?.b?.path);
});
