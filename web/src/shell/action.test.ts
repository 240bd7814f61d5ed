import { describe, expect, it } from "vitest";
import { type Action, actionsAt, clashes } from "./action";
import { PLACES } from "./places";

const tables = import.meta.glob<Record<string, Record<string, Action>>>("../**/actions.ts", { eager: true });
const ALL = Object.values(tables)
  .flatMap((module) => Object.values(module))
  .flatMap((table) => Object.values(table))
  .concat(PLACES.map(({ action }) => action));

describe("the actions of the page", () => {
  it("have no key twice in one place", () => {
    expect(ALL.length).toBeGreaterThan(60);
    expect(clashes(ALL)).toEqual([]);
  });

  it("have one name each", () => {
    const ids = ALL.map(({ id }) => id);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
  });
});

describe("a clash", () => {
  const at = (place: string, keys: string): Action[] =>
    Object.values(actionsAt(place, "", { [keys]: { label: "", keys } }));

  it("is the same key in a place and in a view of it, or one that begins a sequence", () => {
    expect(clashes([...at("a", "x"), ...at("a/b", "x")])).toHaveLength(1);
    expect(clashes([...at("a", "g"), ...at("a", "g b")])).toHaveLength(1);
  });

  it("is not the same key in two views, of which one is shown", () => {
    expect(clashes([...at("a/b", "x"), ...at("a/c", "x"), ...at("ab", "x")])).toEqual([]);
  });
});
