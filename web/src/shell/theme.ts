// Light, dark, or as the system has it. The choice is this browser's; `public/theme.js` applies it before the first paint.

import { useSyncExternalStore } from "react";
import { keepWord } from "../kept/kept";

export type Theme = "system" | "light" | "dark";

const readers = new Set<() => void>();

export function currentTheme(): Theme {
  const theme = document.documentElement.dataset.theme;
  return theme === "light" || theme === "dark" ? theme : "system";
}

export function setTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  keepWord("theme", theme);
  for (const reader of readers) reader();
}

export function useTheme(): Theme {
  return useSyncExternalStore((reader) => {
    readers.add(reader);
    return () => readers.delete(reader);
  }, currentTheme);
}
