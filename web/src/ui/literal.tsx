// Text as it was written: every character stands where it was typed. Only `code` in backticks is set apart.

import { memo } from "react";
import { cx } from "./class";

const CODE = /(`[^`\n]+`)/;

export const Literal = memo(function Literal({ text, className }: { text: string; className?: string }) {
  // Of the parts that `split` gives, every other one is code.
  return (
    <div className={cx("whitespace-pre-wrap [overflow-wrap:anywhere]", className)}>
      {text.split(CODE).map((part, at) =>
        at % 2 === 0 ? (
          part
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never move
          <code key={at} className="rounded-sm bg-hover px-1 py-0.5 font-mono text-xs">
            {part.slice(1, -1)}
          </code>
        ),
      )}
    </div>
  );
});
