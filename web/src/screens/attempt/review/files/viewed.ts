// Which files were looked through, per attempt, in this browser.
// Invariant: a mark holds for the contents that were seen; when they change, the file is unseen again.

import { useSyncExternalStore } from "react";
import { keep, kept } from "../../../../kept/kept";
import type { ChangedFile } from "../../../../live/diff";

/** The figures are always known, the fingerprint only once the patch was loaded. */
export interface Mark {
  figures: string;
  print?: string;
}

const figuresOf = ({ diff }: ChangedFile): string => `${diff.change} +${diff.additions} -${diff.deletions}`;

function stillHolds(mark: Mark | undefined, figures: string, print: string | undefined): boolean {
  if (mark === undefined || mark.figures !== figures) return false;
  return mark.print === undefined || print === undefined || mark.print === print;
}

export class ViewedFiles {
  readonly #attemptId: string;
  readonly #readers = new Set<() => void>();
  /** Of the patches that this page has loaded. */
  readonly #prints = new Map<string, { revision: number; print: string }>();
  #marks: Readonly<Record<string, Mark>>;

  constructor(attemptId: string) {
    this.#attemptId = attemptId;
    const marks = kept(`viewed.${attemptId}`);
    this.#marks = typeof marks === "object" && marks !== null ? { ...marks } : {};
  }

  readonly read = (): Readonly<Record<string, Mark>> => this.#marks;

  readonly subscribe = (reader: () => void): (() => void) => {
    this.#readers.add(reader);
    return () => this.#readers.delete(reader);
  };

  has(file: ChangedFile): boolean {
    return stillHolds(this.#marks[file.path], figuresOf(file), this.#printOf(file));
  }

  set(file: ChangedFile, viewed: boolean): void {
    const { [file.path]: _, ...rest } = this.#marks;
    this.#turn(viewed ? { ...rest, [file.path]: { figures: figuresOf(file), print: this.#printOf(file) } } : rest);
  }

  /** What the patch of a file looks like now. */
  note(file: ChangedFile, print: string): void {
    const held = this.has(file);
    this.#prints.set(file.path, { revision: file.revision, print });
    if (held !== this.has(file)) this.#turn({ ...this.#marks });
  }

  #printOf({ path, revision }: ChangedFile): string | undefined {
    const known = this.#prints.get(path);
    return known?.revision === revision ? known.print : undefined;
  }

  #turn(marks: Readonly<Record<string, Mark>>): void {
    this.#marks = marks;
    keep(`viewed.${this.#attemptId}`, marks);
    for (const reader of this.#readers) reader();
  }
}

const known = new Map<string, ViewedFiles>();

export function viewedOf(attemptId: string): ViewedFiles {
  const files = known.get(attemptId) ?? new ViewedFiles(attemptId);
  known.set(attemptId, files);
  return files;
}

/** Renders again when a mark comes or goes. */
export function useViewed(files: ViewedFiles): ViewedFiles {
  useSyncExternalStore(files.subscribe, files.read);
  return files;
}
