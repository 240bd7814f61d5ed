// How many tokens were used in all. Wherever the page shows a sum, it is this one. Pure.

import type { UsageSum } from "@forge/client";

type Counted = Pick<UsageSum, "input_tokens" | "output_tokens" | "cache_read_tokens" | "cache_write_tokens">;

/** What was thought is counted with what was written. */
export const tokensOf = (sum: Counted): number =>
  sum.input_tokens + sum.output_tokens + sum.cache_read_tokens + sum.cache_write_tokens;
