import { expect, test } from "vitest";
import { bare, commonStart, completions, expand, isPath, meant, nameOf, splitPath } from "./completion";

const entry = (path: string, is_git_repo = false, is_directory = true) => ({
  name: nameOf(path),
  path,
  is_directory,
  is_git_repo,
  last_modified: null,
});
const HERE = [
  entry("/w/src"),
  entry("/w/Shop", true),
  entry("/w/.git"),
  entry("/w/shell.sh", false, false),
  entry("/w/sh"),
];
const names = (entries: readonly { name: string }[]): string[] => entries.map(({ name }) => name);

test("folders complete without regard to case; repositories come first, files and hidden folders not at all", () => {
  expect(names(completions(HERE, "s"))).toEqual(["Shop", "sh", "src"]);
  expect(names(completions(HERE, "SH"))).toEqual(["Shop", "sh"]);
  expect(names(completions(HERE, ""))).not.toContain(".git");
  expect(names(completions(HERE, ".g"))).toEqual([".git"]);
});

test("Tab goes as far as all agree", () => {
  expect(commonStart(["shop", "shovel"])).toBe("sho");
  expect(commonStart(["only"])).toBe("only");
  expect(commonStart(["a", "b"])).toBe("");
  expect(commonStart([])).toBe("");
});

test("a path is a folder and the start of a name", () => {
  expect(splitPath("/w/sh")).toEqual({ folder: "/w/", start: "sh" });
  expect(splitPath("/w/")).toEqual({ folder: "/w/", start: "" });
  expect(isPath("shop")).toBe(false);
  expect(isPath("~/shop")).toBe(true);
  expect(bare("/w/shop//")).toBe("/w/shop");
  expect(bare("/")).toBe("/");
});

test("~ is the home folder, and only at the start", () => {
  expect(expand("~/shop", "/home/me")).toBe("/home/me/shop");
  expect(expand("~", "/home/me")).toBe("/home/me");
  expect(expand("~other/x", "/home/me")).toBe("~other/x");
  expect(expand("~/x", undefined)).toBe("~/x");
});

test("found repositories answer to words and to the path they are below", () => {
  const found = [entry("/home/me/shop", true), entry("/home/me/work/api", true)];
  expect(names(meant(found, "me ap"))).toEqual(["api"]);
  expect(names(meant(found, "/home/me/w"))).toEqual(["api"]);
  expect(names(meant(found, ""))).toEqual(["shop", "api"]);
});
