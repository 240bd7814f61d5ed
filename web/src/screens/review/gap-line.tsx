// The line between two hunks: how much is left out there, and buttons that bring it in.

import { ArrowDownFromLine, ArrowUpFromLine, UnfoldVertical } from "lucide-react";
import { IconButton } from "../../ui/button";
import { count } from "../../ui/format";
import type { Gap } from "./patch";

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
        <IconButton label={`Show ${count(lines, "line")}`} size="sm" disabled={busy} onClick={onAll}>
          <UnfoldVertical className="size-3.5" aria-hidden />
        </IconButton>
      )}
      {!isFew && onUp && (
        <IconButton label="Show 20 lines above" size="sm" disabled={busy} onClick={onUp}>
          <ArrowUpFromLine className="size-3.5" aria-hidden />
        </IconButton>
      )}
      {!isFew && onDown && (
        <IconButton label="Show 20 lines below" size="sm" disabled={busy} onClick={onDown}>
          <ArrowDownFromLine className="size-3.5" aria-hidden />
        </IconButton>
      )}
      <span className="px-1 tabular">{lines === undefined ? "Rest of the file" : count(lines, "unchanged line")}</span>
      {around && <code className="min-w-0 truncate font-mono">{around}</code>}
    </div>
  );
}
