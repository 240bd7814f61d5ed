// @vitest-environment happy-dom

import { describe, expect, it } from "vitest";
import { LineList, WINDOW } from "./raw-log";

const out = (content: string) => ({ type: "STDOUT", content }) as const;
const err = (content: string) => ({ type: "STDERR", content }) as const;

function linesOf(...chunks: ({ type: "STDOUT"; content: string } | { type: "STDERR"; content: string })[]) {
  const list = new LineList();
  chunks.forEach((chunk, at) => {
    list.push(at + 1, chunk);
  });
  return list.take().lines;
}

describe("lines of chunks", () => {
  it("joins what one line's chunks say", () => {
    expect(linesOf(out("he"), out("llo\nwor"), out("ld\n")).map(({ text }) => text)).toEqual(["hello", "world"]);
  });

  it("keeps empty lines and the unfinished last one", () => {
    expect(linesOf(out("a\n\nb")).map(({ text }) => text)).toEqual(["a", "", "b"]);
  });

  it("does not mix output and errors", () => {
    const lines = linesOf(out("half "), err("bad\n"), out("done\n"));
    expect(lines).toEqual([
      { number: 1, text: "half done", stderr: false },
      { number: 2, text: "bad", stderr: true },
    ]);
  });

  it("lets a carriage return begin the line again, also when it was the end of a chunk", () => {
    expect(linesOf(out("10%\r"), out("20%\r50%"), out("\r100%\r\nnext\r\n")).map(({ text }) => text)).toEqual([
      "100%",
      "next",
    ]);
  });

  it("keeps lines that have not changed as they are", () => {
    const list = new LineList();
    list.push(1, out("one\ntw"));
    const before = list.take().lines;
    list.push(2, out("o\n"));
    expect(list.take().lines[0]).toBe(before[0]);
    expect(list.take().lines[1]?.text).toBe("two");
  });
});

it("stays within its window and knows where the rest is", () => {
  const list = new LineList();
  const each = 1_000;
  const chunks = (WINDOW * 2) / each;
  for (let chunk = 0; chunk < chunks; chunk++) {
    list.push(chunk + 1, out(Array.from({ length: each }, (_, line) => `${chunk * each + line + 1}\n`).join("")));
  }
  const { lines, dropped } = list.take();
  expect(lines.length).toBeLessThan(WINDOW * 1.2);
  expect(lines[0]).toEqual({ number: dropped + 1, text: String(dropped + 1), stderr: false });
  const mark = list.markBefore(dropped + 1, 5_000);
  expect(mark?.line).toBeLessThanOrEqual(dropped + 1 - 5_000);
  // A list that begins at the mark gives its lines the same numbers.
  const again = new LineList(mark);
  again.push((mark?.after ?? 0) + 1, out(`${mark?.line}\n`));
  expect(again.take().lines[0]).toMatchObject({ number: mark?.line, text: String(mark?.line) });
});
