import { memo } from "react";
import type { Line } from "../../../live/raw-log";
import { cx } from "../../../ui/class";
import { plain } from "../ansi";
import { AnsiText } from "../ansi-text";
import { splitMatches } from "./raw-search";

/** A line of a megabyte would stop the page; the download has all of it. */
const MOST = 5_000;

interface Props {
  line: Line;
  isWrapped: boolean;
  query: string;
  isCurrent: boolean;
}

export const RawLine = memo(function RawLine({ line, isWrapped, query, isCurrent }: Props) {
  const text = line.text.slice(0, MOST);
  const left = line.text.length - text.length;
  const parts = query === "" ? [] : splitMatches(plain(text), query);
  return (
    <div data-line={line.number} className={cx("flex min-h-5 pr-4", isCurrent && "bg-accent-soft")}>
      <span
        aria-hidden
        className={cx(
          "sticky left-0 mr-3 w-16 shrink-0 select-none border-r-2 bg-sunken pr-2 text-right text-faint tabular",
          line.stderr ? "border-bad" : "border-transparent",
        )}
      >
        {line.number}
      </span>
      <span className={cx("min-w-0", isWrapped ? "whitespace-pre-wrap break-all" : "whitespace-pre")}>
        {line.stderr && <span className="sr-only">Error output: </span>}
        {parts.length > 1 ? (
          parts.map((part, at) =>
            at % 2 === 1 ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a line never move
              <mark key={at} className="rounded-sm bg-warn-soft text-warn">
                {part}
              </mark>
            ) : (
              part
            ),
          )
        ) : (
          <AnsiText text={text} />
        )}
        {left > 0 && <span className="text-faint"> … {left.toLocaleString("en-US")} more characters</span>}
      </span>
    </div>
  );
});
