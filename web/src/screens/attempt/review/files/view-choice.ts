// Unified or split: this browser's choice. A narrow page has room for one column only.

import { useState } from "react";
import { keepWord, keptWord } from "../../../../kept/kept";
import { NARROW, useMedia } from "../../../../ui/media";
import type { DiffView } from "../desk";

export const useIsWide = (): boolean => !useMedia(NARROW);

export function useViewChoice(): { view: DiffView; toggle: () => void } {
  const [chosen, setChosen] = useState<DiffView>(() => (keptWord("diff.view") === "split" ? "split" : "unified"));
  const isWide = useIsWide();
  const toggle = (): void => {
    const next = chosen === "split" ? "unified" : "split";
    keepWord("diff.view", next);
    setChosen(next);
  };
  return { view: isWide ? chosen : "unified", toggle };
}
