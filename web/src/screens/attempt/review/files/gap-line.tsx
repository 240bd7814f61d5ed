// The line between two hunks: how much is left out there, and buttons that bring it in.

import { ArrowDownFromLine, ArrowUpFromLine, UnfoldVertical } from "lucide-react";
import type { Gap } from "../../../../parts/patch/patch";
import { count } from "../../../../ui/format";
import { QuietButton } from "./quiet-button";

interface Props {
  gap: Gap;
  /** The hunk's own head, which names the function around it. */
  title: string | undefined;
  busy: boolean;
  onUp?: () => void;
  onDown?: () => void;
  onAll?: () => void;
}

const FEW = 40;

export function GapLine({ gap, title, busy, onUp, onDown, onAll }: Props) {
  const lines = gap.end === undefined ? undefined : gap.end - gap.start;
  const around = title?.replace(/^@@.*?@@ ?/, "");
  const isFew = lines !== undefined && lines <= FEW;
  return (
    <div className="flex h-8 items-center gap-1 border-line border-y bg-sunken px-1 text-faint text-xs">
      {isFew && onAll && (
        <QuietButton label={`Show ${count(lines, "line")}`} disabled={busy} onClick={onAll}>
          <UnfoldVertical className="size-3.5" aria-hidden />
        </QuietButton>
      )}
      {!isFew && onUp && (
        <QuietButton label="Show 20 lines above" disabled={busy} onClick={onUp}>
          <ArrowUpFromLine className="size-3.5" aria-hidden />
        </QuietButton>
      )}
      {!isFew && onDown && (
        <QuietButton label="Show 20 lines below" disabled={busy} onClick={onDown}>
          <ArrowDownFromLine className="size-3.5" aria-hidden />
        </QuietButton>
      )}
      <span className="shrink-0 px-1 tabular">
        {lines === undefined ? "Rest of file" : count(lines, "unchanged line")}
      </span>
      {around && <code className="min-w-0 truncate font-mono">{around}</code>}
    </div>
  );
}
