// Which folded things of the transcript are open. Rows leave the page when they are scrolled away; what was opened is
// open when they come back.

import { useState } from "react";

const opened = new Set<string>();
const MOST = 2_000;

export function useOpened(key: string, first = false): [boolean, () => void] {
  const [isOpen, setOpen] = useState(() => opened.has(key) !== first);
  const toggle = (): void => {
    // The set holds what differs from how it was at first.
    if (!opened.delete(key)) opened.add(key);
    if (opened.size > MOST) opened.clear();
    setOpen((before) => !before);
  };
  return [isOpen, toggle];
}
