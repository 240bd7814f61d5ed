// What reviewers wrote, as one message to the agent. Pure.
// Invariant: every comment names its file and lines and quotes them, so that the agent needs nothing else to find them.

import type { Comment } from "./comments";

/** More quoted lines than this say nothing new. */
const QUOTE_LINES = 12;

function placeWords({ path, side, start, end }: Pick<Comment, "path" | "side" | "start" | "end">): string {
  const lines = start === end ? `line ${end}` : `lines ${start}–${end}`;
  return `\`${path}\`, ${lines}${side === "old" ? " (before the change)" : ""}`;
}

function quote(text: string): string {
  const lines = text.split("\n");
  const shown = lines.slice(0, QUOTE_LINES);
  if (lines.length > shown.length) shown.push("…");
  // A fence longer than any inside keeps code with fences of its own in one piece.
  const fence = "`".repeat(Math.max(3, ...shown.map((line) => (/`{3,}/.exec(line)?.[0].length ?? 0) + 1)));
  return [fence, ...shown, fence].join("\n");
}

const indent = (text: string): string => text.replace(/^(?=.)/gm, "   ");

function item(comment: Comment, at: number): string {
  return `${at + 1}. ${placeWords(comment)}:\n\n${indent(quote(comment.quote))}\n\n${indent(comment.text.trim())}`;
}

/** Comments in the order of files and lines, after what was said about the whole. */
export function composeReview(comments: readonly Comment[], overall: string): string {
  const written = comments.filter((comment) => comment.text.trim() !== "");
  const sorted = written.toSorted((a, b) => a.path.localeCompare(b.path, "en") || a.end - b.end);
  const parts: string[] = [];
  if (overall.trim()) parts.push(overall.trim());
  if (sorted.length > 0) {
    const these = sorted.length === 1 ? "this review comment" : `these ${sorted.length} review comments`;
    parts.push(`Please address ${these} on your changes:`, ...sorted.map(item));
  }
  return parts.join("\n\n");
}

/** A message that waits already is not overwritten: the review comes after it. */
export function joinPrompts(waiting: string, review: string): string {
  return waiting.trim() ? `${waiting.trimEnd()}\n\n${review}` : review;
}
