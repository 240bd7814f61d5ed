// The word after an `@` that is being typed, and what it becomes.

export interface Mention {
  /** Where the `@` stands. */
  start: number;
  /** Where the caret is. */
  end: number;
  typed: string;
}

const LONGEST = 80;

/** A mention begins with an `@` at the start of a word (so not in an address of mail) and ends before the caret. */
export function mentionAt(text: string, caret: number): Mention | null {
  const before = text.slice(Math.max(0, caret - LONGEST), caret);
  const match = /(?:^|[\s([{"'`])@([^\s@]*)$/.exec(before);
  if (match === null) return null;
  const typed = match[1] ?? "";
  return { start: caret - typed.length - 1, end: caret, typed };
}

/** Puts a file or an image into the text, with space around it so that it stays a word. */
export function insertInto(text: string, start: number, end: number, word: string): { text: string; caret: number } {
  const before = text.slice(0, start);
  const after = text.slice(end);
  const apart = before === "" || /[\s([{"'`]$/.test(before) ? word : ` ${word}`;
  const inserted = /^\s/.test(after) ? apart : `${apart} `;
  return { text: before + inserted + after, caret: start + apart.length + 1 };
}

/** Takes the Markdown of an image out of a text. */
export function withoutImage(text: string, path: string): string {
  const escaped = path.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return text.replace(new RegExp(`!\\[[^\\]]*\\]\\(${escaped}\\)[ \\t]?`, "g"), "");
}

/** Markdown whose images can be shown here: paths of the worktree become addresses of this server. */
export function withShownImages(text: string, images: readonly { id: string; file_path: string }[]): string {
  return images.reduce(
    (shown, { id, file_path }) => shown.replaceAll(`](${file_path})`, `](/api/images/${id}/file)`),
    text,
  );
}
