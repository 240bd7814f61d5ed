// Text and forms that are not sent yet. Kept in this browser as they are written, so that neither closing nor reloading
// loses them; forgotten when the server has taken them. Invariant: nobody else keeps a `draft.*`.

import { useCallback, useEffect, useRef, useState } from "react";
import { keep, kept } from "./kept";

const SETTLE_MS = 250;

export const readDraft = (place: string): unknown => kept(`draft.${place}`);
export const writeDraft = (place: string, value: unknown): void => keep(`draft.${place}`, value);

/** What was kept of a form, also by an older page: parts of another shape are those of `empty`. */
export function restoreForm<T extends object>(empty: T, kept: unknown): T {
  if (typeof kept !== "object" || kept === null) return empty;
  const form = { ...empty };
  for (const name of Object.keys(empty) as (keyof T & string)[]) {
    const [expected, value] = [empty[name], (kept as Partial<T>)[name]];
    if (value === undefined) continue;
    // Where nothing is expected yet, anything may have come.
    const isFree = expected === null || expected === undefined;
    const isAlike = typeof value === typeof expected && Array.isArray(value) === Array.isArray(expected);
    if (isFree || isAlike) form[name] = value;
  }
  return form;
}

export interface KeptDraft<T> {
  value: T;
  set: (next: T | ((now: T) => T)) => void;
  /** The server has it. */
  clear: () => void;
}

/** State that survives; `restore` makes a value of what was kept, whatever that was. Give it a key per place. */
export function useDraft<T>(place: string, restore: (kept: unknown) => T): KeptDraft<T> {
  const [value, setValue] = useState(() => restore(readDraft(place)));
  const unsaved = useRef<{ value: T } | null>(null);
  const latest = useRef(value);
  const save = useCallback(() => {
    if (unsaved.current) writeDraft(place, unsaved.current.value);
    unsaved.current = null;
  }, [place]);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const set = useCallback(
    (next: T | ((now: T) => T)): void => {
      latest.current = next instanceof Function ? next(latest.current) : next;
      unsaved.current = { value: latest.current };
      setValue(latest.current);
      clearTimeout(timer.current);
      timer.current = setTimeout(save, SETTLE_MS);
    },
    [save],
  );
  const empty = useRef(restore);
  const clear = useCallback(() => {
    clearTimeout(timer.current);
    unsaved.current = null;
    writeDraft(place, null);
    latest.current = empty.current(null);
    setValue(latest.current);
  }, [place]);
  useEffect(() => {
    addEventListener("pagehide", save);
    return () => {
      removeEventListener("pagehide", save);
      save();
    };
  }, [save]);
  return { value, set, clear };
}

/** One field's words. They are kept at once, and another place has words of its own. */
export function useDraftText(
  place: string,
  initial = "",
): [text: string, set: (text: string) => void, clear: () => void] {
  const read = (): string => {
    const kept = readDraft(place);
    return typeof kept === "string" ? kept : initial;
  };
  const [shown, show] = useState(() => ({ place, text: read() }));
  const set = (text: string): void => {
    writeDraft(place, text === initial ? null : text);
    show({ place, text });
  };
  return [shown.place === place ? shown.text : read(), set, () => set(initial)];
}
