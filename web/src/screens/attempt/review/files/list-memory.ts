// Small choices that outlive the part of the list that made them: what scrolled away comes back as it was.

import { useState } from "react";

const kept = new Map<string, unknown>();

/** Like `useState`, under a key; lives as long as the page. */
export function useKept<T>(key: string, initial: T): [T, (value: T) => void] {
  const [value, setValue] = useState<T>(() => (kept.has(key) ? (kept.get(key) as T) : initial));
  const set = (next: T): void => {
    kept.set(key, next);
    setValue(next);
  };
  return [value, set];
}
