import { expect, it } from "vitest";
import type { Line } from "../../../live/raw-log";
import { Search, splitMatches, step } from "./raw-search";

const lines = (...texts: string[]): Line[] => texts.map((text, at) => ({ number: at + 1, text, stderr: false }));

it("finds lines in any case and through colours", () => {
  expect(new Search().find(lines("An Error", "fine", "\x1b[31merr\x1b[0mor"), "error")).toEqual([1, 3]);
  expect(new Search().find(lines("a"), "")).toEqual([]);
});

it("continues where it was when more comes, and looks at the last line again", () => {
  const search = new Search();
  expect(search.find(lines("x", "no", "half"), "x")).toEqual([1]);
  expect(search.find(lines("x", "no", "half x", "x"), "x")).toEqual([1, 3, 4]);
});

it("forgets lines that are gone, and looks again at ones that came before", () => {
  const search = new Search();
  const all = lines("x", "x", "x");
  search.find(all, "x");
  expect(search.find(all.slice(1), "x")).toEqual([2, 3]);
  expect(search.find(all, "x")).toEqual([1, 2, 3]);
});

it("splits a text at its matches", () => {
  expect(splitMatches("An Error, error", "ERROR")).toEqual(["An ", "Error", ", ", "error", ""]);
});

it("goes round", () => {
  expect(step([2, 5], 2, 1)).toBe(5);
  expect(step([2, 5], 5, 1)).toBe(2);
  expect(step([2, 5], 2, -1)).toBe(5);
  expect(step([], 0, 1)).toBeUndefined();
});
