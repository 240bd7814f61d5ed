// Short texts that are not lost when a page is left: what is typed is in the browser's store at once.
// Invariant: only `clear` takes it away, and it is called when the server has taken the text.

import { useState } from "react";

export function useKept(place: string): [text: string, keep: (text: string) => void, clear: () => void] {
  const key = `forge.draft.${place}`;
  const [kept, setKept] = useState({ key, text: localStorage.getItem(key) ?? "" });
  // Another place than at the last rendering has a text of its own.
  const text = kept.key === key ? kept.text : (localStorage.getItem(key) ?? "");
  const keep = (next: string): void => {
    if (next === "") localStorage.removeItem(key);
    else localStorage.setItem(key, next);
    setKept({ key, text: next });
  };
  return [text, keep, () => keep("")];
}
