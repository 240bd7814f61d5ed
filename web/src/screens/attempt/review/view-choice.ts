// Unified or split: this browser's choice. A narrow page has room for one column only.

import { useState, useSyncExternalStore } from "react";
import type { DiffView } from "./desk";

const KEY = "forge.diff.view";
const WIDE = "(min-width: 56rem)";

function subscribe(reader: () => void): () => void {
  const query = matchMedia(WIDE);
  query.addEventListener("change", reader);
  return () => query.removeEventListener("change", reader);
}

export const useIsWide = (): boolean => useSyncExternalStore(subscribe, () => matchMedia(WIDE).matches);

export function useViewChoice(): { view: DiffView; toggle: () => void } {
  const [chosen, setChosen] = useState<DiffView>(() => (localStorage.getItem(KEY) === "split" ? "split" : "unified"));
  const isWide = useIsWide();
  const toggle = (): void => {
    const next = chosen === "split" ? "unified" : "split";
    localStorage.setItem(KEY, next);
    setChosen(next);
  };
  return { view: isWide ? chosen : "unified", toggle };
}
