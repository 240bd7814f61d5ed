// What the window is like. The widths are those of the tokens.

import { useCallback, useSyncExternalStore } from "react";

export const NARROW = "(width < 56rem)";

export function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (reader: () => void) => {
      const media = matchMedia(query);
      media.addEventListener("change", reader);
      return () => media.removeEventListener("change", reader);
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => matchMedia(query).matches);
}
