// Words in a field that outlive the field: kept as they are typed, gone when the server took them.

import { useState } from "react";

export function useKeptText(
  place: string,
  initial = "",
): [text: string, set: (text: string) => void, clear: () => void] {
  const key = `forge.draft.${place}`;
  const [text, setText] = useState(() => localStorage.getItem(key) ?? initial);
  const set = (next: string): void => {
    setText(next);
    localStorage.setItem(key, next);
  };
  return [text, set, () => localStorage.removeItem(key)];
}
