// Why the server refused to move a branch, in words that say what to do next. Pure.

import { ForgeError } from "@forge/client";
import { messageOf } from "../../ui/state";

export interface Refusal {
  text: string;
  /** What helps, where the page can offer it. */
  remedy?: "rebase" | "github";
  /** It stopped at conflicts, which have a panel of their own. */
  isConflict?: true;
}

const WORDS: Record<string, Refusal> = {
  TOKEN_INVALID: {
    text: "GitHub does not accept the token, or there is none. Set one in the settings.",
    remedy: "github",
  },
  INSUFFICIENT_PERMISSIONS: {
    text: "The GitHub token may not do this: it needs to write contents and pull requests of the repository.",
    remedy: "github",
  },
  REPO_NOT_FOUND_OR_NO_ACCESS: {
    text: "GitHub has no such repository, or the token has no access to it.",
    remedy: "github",
  },
  rebase_in_progress: { text: "A rebase is in progress. Resolve its conflicts or abort it first." },
};

function errorData(error: unknown): unknown {
  if (!(error instanceof ForgeError) || typeof error.body !== "object" || error.body === null) return undefined;
  return "error_data" in error.body ? error.body.error_data : undefined;
}

export function refusalOf(error: unknown): Refusal {
  const data = errorData(error);
  if (typeof data === "string" && WORDS[data]) return WORDS[data];
  if (typeof data === "object" && data !== null && "type" in data) {
    const known = WORDS[String(data.type)];
    if (known) return known;
    if (data.type === "merge_conflicts") {
      const text = "message" in data && typeof data.message === "string" ? data.message : "There are conflicts.";
      return { text, isConflict: true };
    }
  }
  // The first words name a part of the server, which helps nobody.
  const text = messageOf(error).replace(/\b(Git|GitHub)ServiceError: /g, "");
  if (/diverged/i.test(text)) return { text, remedy: "rebase" };
  if (/github.*token|token.*github/i.test(text)) return { text, remedy: "github" };
  return { text };
}
