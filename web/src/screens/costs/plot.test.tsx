import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { Plot } from "./plot";

afterEach(cleanup);

const days = ["2026-01-01", "2026-01-02", "2026-01-03"];
const series = [
  { key: "a", title: "Model a", values: [1, 2, 3], total: 6 },
  { key: "b", title: "Model b", values: [0, 5, 0], total: 5 },
];
const format = (value: number): string => `${value} coins`;

it("reads out the values of each day to those who use keys", () => {
  render(<Plot label="Cost" days={days} series={series} format={format} />);
  const slider = screen.getByRole("slider", { name: "Cost" });
  expect(slider.getAttribute("aria-valuetext")).toContain("3 coins");
  fireEvent.keyDown(slider, { key: "ArrowLeft" });
  expect(slider.getAttribute("aria-valuetext")).toContain("7 coins");
  fireEvent.keyDown(slider, { key: "Home" });
  fireEvent.keyDown(slider, { key: "ArrowLeft" });
  expect(slider.getAttribute("aria-valuenow")).toBe("0");
});

it("has all values in a table, with or without the picture", () => {
  const { rerender } = render(<Plot label="Cost" days={days} series={series} format={format} />);
  expect(screen.getAllByRole("row")).toHaveLength(4);
  rerender(<Plot label="Cost" days={days} series={series} format={format} asTable />);
  expect(screen.queryByRole("slider")).toBeNull();
  expect(screen.getByRole("row", { name: "2026-01-02 2 coins 5 coins 7 coins" })).toBeTruthy();
});
