import { render } from "@testing-library/react";
import { expect, it } from "vitest";
import { blocksOf, Markdown } from "./markdown";

const SAID =
  "# Plan\n\nFirst **this**.\n\n```ts\nconst a = 1;\n\nconst b = 2;\n```\n\n- one\n- two\n\n[that][1]\n\n[1]: https://x.example\n";

it("gives each block by itself, with links that are named elsewhere", () => {
  const blocks = blocksOf(SAID);
  expect(blocks).toHaveLength(5);
  expect(blocks[2]).toContain("const b = 2;");
  expect(blocks[4]).toContain('href="https://x.example"');
});

it("shows HTML as it was written", () => {
  const { container } = render(<Markdown text={'<img src=x onerror="run()"> and <b>bold</b>'} />);
  expect(container.querySelector("img, b")).toBeNull();
  expect(container.textContent).toContain('<img src=x onerror="run()"> and <b>bold</b>');
});

it("draws only the block that grows", () => {
  const { container, rerender } = render(<Markdown text={`${SAID}\nAnd th`} />);
  const before = [...container.querySelectorAll("pre, h1, ul")];
  rerender(<Markdown text={`${SAID}\nAnd then some`} />);
  expect(container.textContent).toContain("And then some");
  expect([...container.querySelectorAll("pre, h1, ul")]).toEqual(before);
  expect(before.every((element) => container.contains(element))).toBe(true);
});
