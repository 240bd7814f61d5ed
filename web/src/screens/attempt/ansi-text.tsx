import { memo } from "react";
import type { Tone } from "../../ui/badge";
import { cx } from "../../ui/class";
import { parseAnsi } from "./ansi";

const TONE: Record<Tone, string> = {
  neutral: "text-faint",
  accent: "text-accent",
  good: "text-good",
  warn: "text-warn",
  bad: "text-bad",
  info: "text-info",
  review: "text-review",
};

/** Text of a terminal, with its colours. */
export const AnsiText = memo(function AnsiText({ text }: { text: string }) {
  const spans = parseAnsi(text);
  return spans.map(({ text, tone, bold, dim, italic, underline }, at) => (
    <span
      // biome-ignore lint/suspicious/noArrayIndexKey: the spans of one text never move
      key={at}
      className={cx(
        tone && TONE[tone],
        bold && "font-semibold",
        dim && "text-faint",
        italic && "italic",
        underline && "underline",
      )}
    >
      {text}
    </span>
  ));
});
