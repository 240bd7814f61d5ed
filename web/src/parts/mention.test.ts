import { expect, test } from "vitest";
import { insertInto, mentionAt, withoutImage, withShownImages } from "./mention";

test("a mention is the word from its @ to the caret", () => {
  expect(mentionAt("see @src/ca", 11)).toEqual({ start: 4, end: 11, typed: "src/ca" });
  expect(mentionAt("@", 1)).toEqual({ start: 0, end: 1, typed: "" });
  expect(mentionAt("(@a", 3)?.typed).toBe("a");
  expect(mentionAt("see @src/cart", 8)?.typed).toBe("src");
});

test("mail addresses, finished words and plain text are no mentions", () => {
  expect(mentionAt("me@home", 7)).toBeNull();
  expect(mentionAt("@file done", 10)).toBeNull();
  expect(mentionAt("plain", 5)).toBeNull();
  expect(mentionAt(`@${"x".repeat(200)}`, 201)).toBeNull();
});

test("what is inserted stays a word of its own", () => {
  expect(insertInto("see @ca", 4, 7, "src/cart.ts")).toEqual({ text: "see src/cart.ts ", caret: 16 });
  expect(insertInto("see @ca now", 4, 7, "src/cart.ts")).toEqual({ text: "see src/cart.ts now", caret: 16 });
  expect(insertInto("see", 3, 3, "![a](b)")).toEqual({ text: "see ![a](b) ", caret: 12 });
  expect(insertInto("(@ca)", 1, 4, "x").text).toBe("(x )");
});

test("an image that is taken away leaves no mark in the text", () => {
  expect(withoutImage("a ![x](.forge-images/1.png) b ![y](.forge-images/2.png)", ".forge-images/1.png")).toBe(
    "a b ![y](.forge-images/2.png)",
  );
  expect(withoutImage("![x](.forge-imagesX1.png)", ".forge-images.1.png")).toBe("![x](.forge-imagesX1.png)");
});

test("images of the worktree are shown from the server", () => {
  const text = withShownImages("![x](.forge-images/1.png)", [{ id: "i", file_path: ".forge-images/1.png" }]);
  expect(text).toBe("![x](/api/images/i/file)");
});
