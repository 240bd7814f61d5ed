// Why the server refused to move a branch, in words that say what to do next. Pure.
// Invariant: what helps is decided by the code of the error, never by its words.

import { type ErrorCode, ForgeError } from "@forge/client";
import { messageOf } from "../../ui/state";

export interface Refusal {
  text: string;
  /** What to do about it, in words. */
  hint?: string;
  /** What helps, where the page can offer it. */
  remedy?: "rebase" | "github";
  /** It stopped at conflicts, which have a panel of their own. */
  isConflict?: true;
}

type Remedy = NonNullable<Refusal["remedy"]>;

const REMEDIES: Partial<Record<ErrorCode, Remedy>> = {
  branch_diverged: "rebase",
  host_token_invalid: "github",
  host_permission_missing: "github",
  host_repository_not_found: "github",
};

/** For refusals that come without a message. */
const WORDS: Partial<Record<ErrorCode, { text: string; hint?: string }>> = {
  host_token_invalid: {
    text: "The code host does not accept the token, or there is none.",
    hint: "Set one in the settings.",
  },
  host_permission_missing: {
    text: "The token may not do this.",
    hint: "It needs to write contents and pull requests of the repository.",
  },
  host_repository_not_found: { text: "The code host has no such repository, or the token has no access to it." },
  operation_in_progress: { text: "A rebase is in progress.", hint: "Resolve its conflicts or abort it first." },
};

const at = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;

export function refusalOf(error: unknown): Refusal {
  if (!(error instanceof ForgeError)) return { text: messageOf(error) };
  const { code, hint, reason, body } = error;
  const stopped = at(at(body, "error_data"), "message");
  if (code === "merge_conflicts" && typeof stopped === "string") return { text: stopped, isConflict: true };
  const said = { text: reason, ...(hint !== undefined && { hint }) };
  const words = (at(body, "message") === null && code && WORDS[code]) || said;
  const remedy = code && REMEDIES[code];
  return { ...words, ...(remedy && { remedy }) };
}
