import type { TaskAttempt } from "@forge/client";
import { render } from "@testing-library/react";
import { expect, test } from "vitest";
import { short } from "../../ui/format";
import { Spent } from "./header";

test("the head of an attempt counts as many tokens as Costs, and says how many were cached", () => {
  const counted = { input_tokens: 1_200, output_tokens: 800, cache_read_tokens: 45_000, reasoning_tokens: 300 };
  const attempt = { ...counted, cache_creation_tokens: 2_500 } as unknown as TaskAttempt;
  const { container } = render(<Spent attempt={attempt} />);
  expect(container.textContent).toBe(`${short(1_200 + 800 + 45_000 + 2_500)} tokens (91% cached)`);
});
