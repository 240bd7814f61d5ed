// Two attempts file by file: who changed what. Pure.

import type { ChangedFile } from "../../live/diff";

export interface BothSides {
  path: string;
  a: ChangedFile | undefined;
  b: ChangedFile | undefined;
  who: "a" | "b" | "both";
}

/** What both changed comes first, as one row each: that is where they differ. Then by path. */
export function bothSides(a: readonly ChangedFile[], b: readonly ChangedFile[]): BothSides[] {
  const inA = new Map(a.map((file) => [file.path, file]));
  const inB = new Map(b.map((file) => [file.path, file]));
  const paths = [...new Set([...inA.keys(), ...inB.keys()])];
  const order = new Intl.Collator("en", { numeric: true });
  const rows = paths.sort(order.compare).map((path): BothSides => {
    const [ofA, ofB] = [inA.get(path), inB.get(path)];
    return { path, a: ofA, b: ofB, who: ofA && ofB ? "both" : ofA ? "a" : "b" };
  });
  return rows.toSorted((one, other) => Number(other.who === "both") - Number(one.who === "both"));
}
