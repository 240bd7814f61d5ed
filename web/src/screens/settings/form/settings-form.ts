// Forms of the settings: what was typed and not saved yet, by path.
// Invariant: a change is kept in this browser from the moment it is typed until the server took it or somebody discarded it.

import { useEffect, useRef, useState } from "react";
import { readDraft, writeDraft } from "../../../kept/draft";
import { messageOf } from "../../../ui/state";
import { type At, changesIn, type Draft, type Fault, faultOf, nest, type Path, valueAt } from "./form-value";

/** What an input needs of the form. */
export interface FormField<V> {
  value: V;
  // As a method, so that an input that may be empty can be used where the type has no null.
  onChange(value: V): void;
  error: string | null;
}

export interface Form<T> {
  field: <P extends Path<T>>(path: P) => FormField<At<T, P>>;
  dirty: boolean;
  busy: boolean;
  /** The last thing that happened was a save. */
  saved: boolean;
  /** What went wrong and belongs to no field that is shown. */
  error: string | null;
  save: () => Promise<boolean>;
  discard: () => void;
}

interface Open {
  save: () => Promise<boolean>;
  discard: () => void;
}

const changed = new Map<string, Open>();

/** All forms on the screen that hold something unsaved. */
export const unsaved = {
  any: (): boolean => changed.size > 0,
  saveAll: async (): Promise<boolean> => {
    const saved = await Promise.all([...changed.values()].map((form) => form.save()));
    return saved.every(Boolean);
  },
  discardAll: (): void => {
    for (const form of [...changed.values()]) form.discard();
  },
};

const placeOf = (name: string): string => `settings.${name}`;

function keptDraft(name: string): Draft {
  const kept = readDraft(placeOf(name));
  return typeof kept === "object" && kept !== null ? { ...kept } : {};
}

const keepDraft = (name: string, draft: Draft): void =>
  writeDraft(placeOf(name), Object.keys(draft).length === 0 ? null : draft);

interface Options<T> {
  /** Unique; a form of another thing needs another name and a `key`. */
  name: string;
  stored: T;
  /** Sends the changes, and puts the answer where `stored` comes from. */
  send: (change: Record<string, unknown>) => Promise<unknown>;
}

type Outcome = { is: "open" } | { is: "busy" } | { is: "saved" } | { is: "failed"; fault: Fault };

export function useForm<T extends object>({ name, stored, send }: Options<T>): Form<T> {
  const [draft, setDraft] = useState<Draft>(() => keptDraft(name));
  const [outcome, setOutcome] = useState<Outcome>({ is: "open" });
  const changes = changesIn(draft, stored);
  const dirty = Object.keys(changes).length > 0;
  const turn = (next: Draft): void => {
    keepDraft(name, next);
    setDraft(next);
  };
  const discard = (): void => {
    turn({});
    setOutcome({ is: "open" });
  };
  const save = async (): Promise<boolean> => {
    if (!dirty || outcome.is === "busy") return !dirty;
    setOutcome({ is: "busy" });
    try {
      await send(nest(changes));
      // The answer reaches the page in a later turn; until then the draft shows what was sent.
      await new Promise((done) => setTimeout(done));
      setDraft((now) => {
        const later = Object.fromEntries(Object.entries(now).filter(([path, value]) => changes[path] !== value));
        keepDraft(name, later);
        return later;
      });
      setOutcome({ is: "saved" });
      return true;
    } catch (error) {
      setOutcome({ is: "failed", fault: faultOf(messageOf(error), Object.keys(changes)) });
      return false;
    }
  };
  const latest = useRef<Open>({ save, discard });
  latest.current = { save, discard };
  useEffect(() => {
    if (!dirty) return;
    changed.set(name, { save: () => latest.current.save(), discard: () => latest.current.discard() });
    return () => void changed.delete(name);
  }, [dirty, name]);
  const fault = outcome.is === "failed" ? outcome.fault : null;
  return {
    field: (path) => ({
      // The type of the path says what is there; a draft of it came from the same field.
      value: (path in draft ? draft[path] : valueAt(stored, path)) as At<T, typeof path>,
      onChange: (value) => {
        turn(changesIn({ ...changes, [path]: value }, stored));
        setOutcome({ is: "open" });
      },
      error: fault?.path === path ? fault.message : null,
    }),
    dirty,
    busy: outcome.is === "busy",
    saved: outcome.is === "saved" && !dirty,
    error: fault?.path === null ? fault.message : null,
    save,
    discard,
  };
}
