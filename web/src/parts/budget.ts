// What an attempt may cost, as people write it.

export const BUDGET_FLAW = "Give an amount above zero, or leave it empty.";

/** `null` is no budget, `undefined` is no number. */
export function parseBudget(text: string): number | null | undefined {
  const clean = text.trim().replace(/^\$/, "").replace(",", ".");
  if (clean === "") return null;
  const usd = Number(clean);
  return Number.isFinite(usd) && usd > 0 ? usd : undefined;
}
