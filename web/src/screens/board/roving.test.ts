import { expect, test } from "vitest";
import { firstOf, neighbour, placeOf } from "./roving";
import { aTask } from "./sample-task";

const list = (...ids: string[]) => ids.map((id) => aTask({ id }));
const LISTS = [list("a", "b", "c"), [], list("d"), list("e", "f")];

test("up and down stay in the column and stop at its ends", () => {
  expect(neighbour(LISTS, "a", "down")).toBe("b");
  expect(neighbour(LISTS, "a", "up")).toBe("a");
  expect(neighbour(LISTS, "c", "down")).toBe("c");
});

test("sideways goes past empty columns and to the nearest row there is", () => {
  expect(neighbour(LISTS, "c", "right")).toBe("d");
  expect(neighbour(LISTS, "d", "left")).toBe("a");
  expect(neighbour(LISTS, "f", "left")).toBe("d");
  expect(neighbour(LISTS, "f", "right")).toBe("f");
});

test("without a card to start from, it begins with the first", () => {
  expect(neighbour(LISTS, undefined, "down")).toBe("a");
  expect(neighbour([[], list("x")], "gone", "left")).toBe("x");
  expect(firstOf([[], []])).toBeUndefined();
});

test("a card is found with its column and row", () => {
  expect(placeOf(LISTS, "f")).toEqual([3, 1]);
  expect(placeOf(LISTS, "gone")).toBeUndefined();
});
