// @vitest-environment happy-dom
import { render } from "@testing-library/react";
import { expect, test } from "vitest";
import { Literal } from "./literal";

test("what looks like Markdown stays as it was typed", () => {
  const script = "# heading\nls src/*/*.ts  **/x\n__init__.py <b>  s/.*/x/";
  const { container } = render(<Literal text={script} />);
  expect(container.textContent).toBe(script);
  expect(container.querySelector("h1, strong, em, b")).toBeNull();
});

test("code in backticks is set apart, on one line only", () => {
  const codes = (text: string) =>
    [...render(<Literal text={text} />).container.querySelectorAll("code")].map((code) => code.textContent);
  expect(codes("run `a *b*` and `c`")).toEqual(["a *b*", "c"]);
  expect(codes("```\ncode\n```")).toEqual([]);
});
