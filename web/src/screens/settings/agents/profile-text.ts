// Changes of the profiles as one text, `{"executors": {EXECUTOR: {VARIANT: {EXECUTOR: {options}}}}}`.
// Invariant: form and JSON show the same text; a change of an option leaves everything else as it is.

import { isTree, readJson } from "../form/json-text";

export type Options = Record<string, unknown>;
/** Options by executor and variant. */
export type Profiles = Record<string, Record<string, Options>>;

const treeAt = (tree: unknown, key: string): Record<string, unknown> => {
  const inner = isTree(tree) ? tree[key] : undefined;
  return isTree(inner) ? inner : {};
};

/** None while the text is no JSON. */
export function readProfiles(text: string): Profiles | null {
  const read = readJson(text);
  if ("fault" in read) return null;
  const profiles: Profiles = {};
  for (const [executor, variants] of Object.entries(treeAt(read.value, "executors"))) {
    const names = isTree(variants) ? Object.keys(variants) : [];
    profiles[executor] = Object.fromEntries(names.map((name) => [name, treeAt(treeAt(variants, name), executor)]));
  }
  return profiles;
}

/** With another set of options for a variant; null takes the variant away. */
export function withVariant(text: string, executor: string, variant: string, options: Options | null): string {
  const read = readJson(text);
  if ("fault" in read || !isTree(read.value)) return text;
  const executors = treeAt(read.value, "executors");
  const variants = { ...treeAt(executors, executor) };
  if (options === null) delete variants[variant];
  else variants[variant] = { [executor]: options };
  return JSON.stringify({ ...read.value, executors: { ...executors, [executor]: variants } }, null, 2);
}

/** With one option set; null takes it away, which is how the agent's own default is asked for. */
export function withOption(options: Options, name: string, value: unknown): Options {
  const next = { ...options };
  const empty = value === null || value === "" || (Array.isArray(value) && value.length === 0);
  // The server writes this one even when it is empty.
  if (empty && name === "append_prompt") next[name] = null;
  else if (empty) delete next[name];
  else next[name] = value;
  return next;
}

/** The name as the server spells it: `plan mode` is `PLAN_MODE`. */
export function canonicalName(name: string): string {
  return name
    .trim()
    .replace(/[^\p{L}\p{N}]+/gu, "_")
    .replace(/^_+|_+$/g, "")
    .toUpperCase();
}

export function nameProblem(name: string, taken: readonly string[]): string | null {
  const canonical = canonicalName(name);
  if (canonical === "") return "Use letters and digits.";
  if (canonical === "DEFAULT") return "This is the name of the default variant.";
  return taken.includes(canonical) ? `There is a variant ${canonical} already.` : null;
}
