import { expect, test } from "vitest";
import type { Comment } from "./comments";
import { composeReview, joinPrompts } from "./compose";

const comment = (given: Partial<Comment>): Comment => ({
  id: "1",
  path: "src/cart.ts",
  side: "new",
  start: 5,
  end: 5,
  quote: "  const sum = 0;",
  text: "Why?",
  draft: null,
  ...given,
});

test("one comment names file and line, quotes the line, and says the words", () => {
  expect(composeReview([comment({})], "")).toBe(
    [
      "Please address this review comment on your changes:",
      "",
      "1. `src/cart.ts`, line 5:",
      "",
      "   ```",
      "     const sum = 0;",
      "   ```",
      "",
      "   Why?",
    ].join("\n"),
  );
});

test("the remark about the whole comes first, then comments by file and line", () => {
  const text = composeReview(
    [
      comment({ path: "z.ts", text: "third" }),
      comment({ end: 9, start: 7, text: "second" }),
      comment({ text: "first" }),
    ],
    "  Good work. ",
  );
  expect(text.startsWith("Good work.\n\nPlease address these 3 review comments")).toBe(true);
  expect(text.indexOf("first")).toBeLessThan(text.indexOf("second"));
  expect(text.indexOf("second")).toBeLessThan(text.indexOf("third"));
  expect(text).toContain("lines 7–9");
});

test("removed lines are said to be of before", () => {
  expect(composeReview([comment({ side: "old" })], "")).toContain("line 5 (before the change):");
});

test("code with fences stays in one piece, and long quotes are cut", () => {
  expect(composeReview([comment({ quote: "```ts" })], "")).toContain("   ````\n   ```ts\n   ````");
  const long = Array.from({ length: 40 }, (_, at) => `line ${at}`).join("\n");
  expect(composeReview([comment({ quote: long })], "")).not.toContain("line 12\n");
});

test("unwritten comments are no comments", () => {
  expect(composeReview([comment({ text: "  " })], "")).toBe("");
  expect(composeReview([], "Only this.")).toBe("Only this.");
});

test("a message that waits already is kept", () => {
  expect(joinPrompts("Also fix the README.", "Review")).toBe("Also fix the README.\n\nReview");
  expect(joinPrompts("", "Review")).toBe("Review");
});
