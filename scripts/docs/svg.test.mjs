// A screen becomes a picture in which everything stands where it stood.
import { expect, it } from "vitest";

import { draw, read } from "./svg.mjs";

it("a row is read into runs that stand where they stood", () => {
  const [runs] = read("ab\x1b[1;31mc\x1b[0m d");
  expect(runs.map(({ column, text }) => [column, text])).toEqual([
    [0, "ab"],
    [2, "c"],
    [3, " d"],
  ]);
  expect(runs[1].look.bold).toBe(true);
  expect(runs[2].look).toEqual({});
});

it("colours of the palette are colours, whatever their numbers mean elsewhere", () => {
  const [[run]] = read("\x1b[38;5;2mgood");
  expect(run.look).toEqual({ ink: "#8fcf7a" });
});

it("what is reversed has the colours of text and paper changed", () => {
  const picture = draw(["\x1b[7m x \x1b[0m"], 3);
  expect(picture).toContain('fill="#d8dae0"/>');
  expect(picture).toContain('fill="#16181d" xml:space="preserve"> x </text>');
});

it("a style continues in the next row", () => {
  const [, look] = read("\x1b[2mdim");
  expect(read("still", look)[0][0].look.dim).toBe(true);
});

it("text of a screen is no markup", () => {
  expect(draw(["<b>&"], 4)).toContain("&lt;b&gt;&amp;");
});
