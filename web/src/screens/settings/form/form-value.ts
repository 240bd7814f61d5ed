// Values of a form by their paths (`fleet.max_workers`), as the server names them in its messages.
// Invariant: a draft holds only what was changed, so that saving one form never writes back another one's old values.

import { isTree } from "./json-text";

export type Draft = Readonly<Record<string, unknown>>;

/** Every path into `T`; lists are values of their own. */
export type Path<T> = {
  [K in keyof T & string]-?: NonNullable<T[K]> extends readonly unknown[]
    ? K
    : NonNullable<T[K]> extends object
      ? K | `${K}.${Path<NonNullable<T[K]>>}`
      : K;
}[keyof T & string];

export type At<T, P extends string> = P extends `${infer K}.${infer Rest}`
  ? K extends keyof T
    ? At<NonNullable<T[K]>, Rest>
    : never
  : P extends keyof T
    ? T[P]
    : never;

export function valueAt(tree: unknown, path: string): unknown {
  let value = tree;
  for (const key of path.split(".")) value = isTree(value) ? value[key] : undefined;
  return value;
}

/** Absent and null mean the same to the server. */
export function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
}

/** What of the draft differs from what is stored. */
export function changesIn(draft: Draft, stored: unknown): Draft {
  return Object.fromEntries(Object.entries(draft).filter(([path, value]) => !isSame(value, valueAt(stored, path))));
}

/** `{"a.b": 1}` is `{a: {b: 1}}`. */
export function nest(draft: Draft): Record<string, unknown> {
  const whole: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(draft)) {
    const keys = path.split(".");
    const last = keys.pop() ?? path;
    let tree = whole;
    for (const key of keys) {
      const inner = isTree(tree[key]) ? tree[key] : {};
      tree[key] = inner;
      tree = inner;
    }
    tree[last] = value;
  }
  return whole;
}

export interface Fault {
  /** The field that the message names; none when it is about the whole. */
  path: string | null;
  message: string;
}

/** Where a message of the server belongs: `a.b: what is wrong`, or a sentence with the field's name in words. */
export function faultOf(message: string, paths: readonly string[]): Fault {
  const said = message.replace(/ at line \d+ column \d+$/, "");
  const [, named = "", rest = ""] = /^([A-Za-z_][\w.]*): (.*)$/s.exec(said) ?? [];
  const path = paths.find((path) => named === path || named.startsWith(`${path}.`));
  if (path !== undefined) return { path, message: named === path ? rest : `${named.slice(path.length + 1)}: ${rest}` };
  const words = (path: string): string => path.slice(path.lastIndexOf(".") + 1).replaceAll("_", " ");
  const match = paths.find((path) => words(path).includes(" ") && said.toLowerCase().includes(words(path)));
  return { path: match ?? null, message: said };
}
