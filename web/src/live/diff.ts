// The files that an attempt changed, live, in the order of their paths; figures only, no contents.
// Invariant: `revision` grows each time the server sends a file again, so that what was loaded of it can be loaded again.

import { type Diff, type DiffDocument, ForgeError } from "@forge/client";
import { forge } from "../api/forge";
import { Channel, channels } from "./channel";

export interface ChangedFile {
  path: string;
  diff: Diff;
  revision: number;
}

export interface Sum {
  files: number;
  additions: number;
  deletions: number;
}

export function sumOf(files: readonly ChangedFile[]): Sum {
  return files.reduce(
    (sum, { diff }) => ({
      files: sum.files + 1,
      additions: sum.additions + (diff.additions ?? 0),
      deletions: sum.deletions + (diff.deletions ?? 0),
    }),
    { files: 0, additions: 0, deletions: 0 },
  );
}

/** An attempt without changes sends no word at all: one look shows that there is nothing, or why it cannot be determined. */
async function hasNothing(attemptId: string): Promise<boolean> {
  try {
    const given = { path: { attempt_id: attemptId }, query: { max_bytes: 0 } };
    return (await forge.request("GET /api/task-attempts/{attempt_id}/diff", given)).files_changed === 0;
  } catch (error) {
    if (error instanceof ForgeError && error.isFinal) throw error;
    return false;
  }
}

/** `f2` before `f10`. */
const ORDER = new Intl.Collator("en", { numeric: true });
const fromPointer = (step: string): string => step.replaceAll("~1", "/").replaceAll("~0", "~");

/** A stream that was cut starts again, file by file: until then what was there before is still shown. */
const REFILL_MS = 1_000;

export const diffChannel = channels<readonly ChangedFile[]>((attemptId) => {
  let document: DiffDocument = { entries: {} };
  let before: DiffDocument["entries"] = {};
  const revisions = new Map<string, number>();
  let kept = new Map<string, ChangedFile>();
  return new Channel<readonly ChangedFile[]>(
    async (options, changed) => {
      if (await hasNothing(attemptId)) {
        document = { entries: {} };
        changed();
      }
      for await (const change of forge.watchDiff(attemptId, { ...options, statsOnly: true })) {
        if (document !== change.document) {
          before = { ...before, ...document.entries };
          document = change.document;
          const refilled = (): void => {
            before = {};
            changed();
          };
          if (Object.keys(before).length > 0) setTimeout(refilled, REFILL_MS);
        }
        for (const { path } of change.patch) {
          const file = fromPointer(path.slice("/entries/".length));
          revisions.set(file, (revisions.get(file) ?? 0) + 1);
        }
        changed();
      }
    },
    () => {
      const next = new Map<string, ChangedFile>();
      for (const [path, { content }] of Object.entries({ ...before, ...document.entries })) {
        const revision = revisions.get(path) ?? 0;
        const known = kept.get(path);
        // The same object for the same file: long lists compare by identity.
        next.set(path, known?.revision === revision ? known : { path, diff: content, revision });
      }
      kept = next;
      return [...next.values()].sort((a, b) => ORDER.compare(a.path, b.path));
    },
  );
});
