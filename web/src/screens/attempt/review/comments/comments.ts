// The comments on an attempt that were not sent yet, and the remark about the whole.
// Invariants: they are in the browser's storage as soon as they are typed; only sending or removing takes them away.
// Typing calls no reader: boxes own what is in them, and the store only keeps it.

import { useSyncExternalStore } from "react";
import { readDraft, restoreForm, writeDraft } from "../../../../kept/draft";
import type { Side } from "../../../../parts/patch/patch";

export interface Comment {
  id: string;
  path: string;
  side: Side;
  start: number;
  end: number;
  /** The lines as they were when it was written. */
  quote: string;
  /** What was saved; empty while it is new. */
  text: string;
  /** What stands in its open box; null when the box is closed. */
  draft: string | null;
}

export interface ReviewDraft {
  comments: readonly Comment[];
  overall: string;
}

const NOTHING: ReviewDraft = { comments: [], overall: "" };
const placeOf = (attemptId: string): string => `review.${attemptId}`;

export class CommentStore {
  readonly #attemptId: string;
  readonly #readers = new Set<() => void>();
  #draft: ReviewDraft;
  #wantsFocus: string | undefined;

  constructor(attemptId: string) {
    this.#attemptId = attemptId;
    this.#draft = restoreForm(NOTHING, readDraft(placeOf(attemptId)));
  }

  readonly read = (): ReviewDraft => this.#draft;

  readonly subscribe = (reader: () => void): (() => void) => {
    this.#readers.add(reader);
    return () => this.#readers.delete(reader);
  };

  /** Opens a box under a line; the one that is open there already, if there is one. */
  begin(place: Pick<Comment, "path" | "side" | "start" | "end" | "quote">): void {
    const isSame = (each: Comment): boolean =>
      each.draft !== null && each.path === place.path && each.side === place.side && each.end === place.end;
    if (this.#draft.comments.some(isSame)) return;
    // Unique within one browser is enough.
    const id = `${Date.now().toString(36)}${Math.random().toString(36).slice(2, 6)}`;
    this.#wantsFocus = id;
    this.#turn([...this.#draft.comments, { ...place, id, text: "", draft: "" }]);
  }

  /** Whether this box was opened by somebody just now; true once. */
  takeFocus(id: string): boolean {
    if (this.#wantsFocus !== id) return false;
    this.#wantsFocus = undefined;
    return true;
  }

  edit(id: string): void {
    this.#wantsFocus = id;
    this.#change(id, (comment) => ({ ...comment, draft: comment.draft ?? comment.text }));
  }

  save(id: string, text: string): void {
    this.#change(id, (comment) => ({ ...comment, text: text.trim(), draft: null }));
  }

  /** Closes the box; a comment that was never saved goes with it. */
  cancel(id: string): void {
    const kept = this.#draft.comments.filter((each) => each.id !== id || each.text !== "");
    this.#turn(kept.map((each) => (each.id === id ? { ...each, draft: null } : each)));
  }

  remove(id: string): void {
    this.#turn(this.#draft.comments.filter((each) => each.id !== id));
  }

  /** Kept without calling readers. */
  type(id: string, draft: string): void {
    const comments = this.#draft.comments.map((each) => (each.id === id ? { ...each, draft } : each));
    this.#keep({ ...this.#draft, comments });
  }

  typeOverall(overall: string): void {
    this.#keep({ ...this.#draft, overall });
  }

  /** After the server took them; boxes that are still open stay. */
  clearSent(ids: ReadonlySet<string>): void {
    const comments = this.#draft.comments.filter((each) => !ids.has(each.id) || each.draft !== null);
    this.#keep({ comments, overall: "" });
    this.#changed();
  }

  #change(id: string, change: (comment: Comment) => Comment): void {
    this.#turn(this.#draft.comments.map((each) => (each.id === id ? change(each) : each)));
  }

  #turn(comments: readonly Comment[]): void {
    this.#keep({ ...this.#draft, comments });
    this.#changed();
  }

  #keep(draft: ReviewDraft): void {
    this.#draft = draft;
    const isEmpty = draft.comments.length === 0 && draft.overall === "";
    writeDraft(placeOf(this.#attemptId), isEmpty ? null : draft);
  }

  #changed(): void {
    for (const reader of this.#readers) reader();
  }
}

const stores = new Map<string, CommentStore>();

export function commentsOf(attemptId: string): CommentStore {
  const store = stores.get(attemptId) ?? new CommentStore(attemptId);
  stores.set(attemptId, store);
  return store;
}

export function useComments(store: CommentStore): ReviewDraft {
  return useSyncExternalStore(store.subscribe, store.read);
}

/** Those that would be sent. */
export const writtenOnes = (draft: ReviewDraft): Comment[] => draft.comments.filter((comment) => comment.text !== "");
