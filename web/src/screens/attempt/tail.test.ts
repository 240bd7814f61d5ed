import { expect, it } from "vitest";
import { endOf } from "./tail";

const own = (px: number): number => px;

it("takes as many of the last rows as fill the window", () => {
  expect(endOf([20, 20, 300, 20, 20], 300, own)).toEqual([300, 20, 20]);
});

it("takes one row that is higher than the window, and all rows when they do not fill it", () => {
  expect(endOf([20, 900], 300, own)).toEqual([900]);
  expect(endOf([20, 20], 300, own)).toEqual([20, 20]);
  expect(endOf([], 300, own)).toEqual([]);
});
