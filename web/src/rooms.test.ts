import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";

const SOURCES = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" })
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => /\.tsx?$/.test(path));
const PRODUCT = SOURCES.filter((path) => !/\.test\.tsx?$/.test(path));
const MOST_FILES = 25;
const textOf = (path: string): string => readFileSync(join(import.meta.dirname, path), "utf8");

/** `screens/board`, `parts`, `ui`: what a file belongs to. */
const roomOf = (path: string): string => /^(screens\/[^/.]+|[^/]+)/.exec(path)?.[0] ?? path;

/** The files of the page that a file imports, at once or later. */
function importsOf(path: string): string[] {
  const named = textOf(path).matchAll(/(?:from|import|import\(|new URL\() ?"(\.[^"]+)"/g);
  return [...named].flatMap(([, name = ""]) => {
    const target = join(dirname(path), name).replaceAll("\\", "/");
    return SOURCES.filter((source) => source === target || source.replace(/\.tsx?$/, "") === target);
  });
}

const imports = new Map(SOURCES.map((path) => [path, importsOf(path)]));
const importing = (from: (room: string) => boolean, to: (room: string, from: string) => boolean): string[] =>
  [...imports].flatMap(([path, targets]) =>
    from(roomOf(path))
      ? targets.filter((target) => to(roomOf(target), roomOf(path))).map((target) => `${path} imports ${target}`)
      : [],
  );
const isScreen = (room: string): boolean => room.startsWith("screens/");

describe("the rooms of the page", () => {
  it("no screen imports another screen: what both need is in parts/", () => {
    expect(importing(isScreen, (to, from) => isScreen(to) && to !== from)).toEqual([]);
  });

  it("ui/ knows nobody, and what is below the screens knows no screen", () => {
    expect(
      importing(
        (room) => room === "ui",
        (to) => to !== "ui",
      ),
    ).toEqual([]);
    const below = (room: string): boolean => ["api", "kept", "live", "parts"].includes(room);
    expect(importing(below, (to) => isScreen(to) || to === "shell")).toEqual([]);
    expect(importing((room) => room === "shell", isScreen)).toEqual([]);
  });

  it("parts/ holds what several rooms use, and nothing else", () => {
    const users = (part: string, seen = new Set([part])): Set<string> => {
      const rooms = new Set<string>();
      for (const path of PRODUCT) {
        if (!imports.get(path)?.includes(part) || seen.has(path)) continue;
        if (roomOf(path) !== "parts") rooms.add(roomOf(path));
        else for (const room of users(path, seen.add(path))) rooms.add(room);
      }
      return rooms;
    };
    const parts = PRODUCT.filter((path) => roomOf(path) === "parts");
    const lonely = parts.filter((part) => users(part).size < 2).map((part) => `${part}: ${[...users(part)]}`);
    expect(lonely).toEqual([]);
  });

  it("no folder is too large to be looked over", () => {
    const sizes = new Map<string, number>();
    for (const path of PRODUCT) sizes.set(dirname(path), (sizes.get(dirname(path)) ?? 0) + 1);
    expect([...sizes].filter(([, size]) => size > MOST_FILES)).toEqual([]);
  });

  it("a file's name stands for one thing; only a screen's actions and the queries of a room are named alike", () => {
    const named = PRODUCT.filter((path) => basename(path) !== "actions.ts" && dirname(path) !== "api/queries");
    const nameOf = (path: string): string => basename(path).replace(/\.tsx?$/, "");
    const names = named.map(nameOf);
    expect(named.filter((path) => names.indexOf(nameOf(path)) !== names.lastIndexOf(nameOf(path)))).toEqual([]);
  });

  it("only api/keys writes a key under which an answer is kept", () => {
    const writes = PRODUCT.filter((path) => /queryKey: ?\[|queryKey\(\[/.test(textOf(path)));
    expect(writes).toEqual([]);
  });

  it("only a table of actions writes a key; what the browser itself listens to is in ui/", () => {
    const isTable = (path: string): boolean => /(^|\/)(actions|places)\.ts$/.test(path) || roomOf(path) === "ui";
    const writes = PRODUCT.filter((path) => !isTable(path) && /\b(keys|shortcuts)(: |=)["'`]/.test(textOf(path)));
    expect(writes).toEqual([]);
  });

  it("only ui/ announces a problem: elsewhere it is drawn by a part of it", () => {
    expect(PRODUCT.filter((path) => roomOf(path) !== "ui" && /role="alert"/.test(textOf(path)))).toEqual([]);
  });

  it("only kept/ touches the storage of the browser", () => {
    expect(PRODUCT.filter((path) => /\b(local|session)Storage\b/.test(textOf(path)))).toEqual(["kept/kept.ts"]);
  });
});
