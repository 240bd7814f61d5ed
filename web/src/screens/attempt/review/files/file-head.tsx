// The head of a file: what happened to it, how much, whether it was seen, and what can be done with it.

import { ChevronDown, Copy, EllipsisVertical, MessageSquare, SquareArrowOutUpRight, Trash2 } from "lucide-react";
import type { ChangedFile } from "../../../../live/diff";
import { Figures, PathName } from "../../../../parts/changed";
import { openInEditor } from "../../../../parts/editor";
import { CHANGE } from "../../../../parts/patch/kind";
import { Badge } from "../../../../ui/badge";
import { cx } from "../../../../ui/class";
import { copyText } from "../../../../ui/copy";
import { count } from "../../../../ui/format";
import { Menu, MenuItem, MenuLine } from "../../../../ui/menu";
import { useDesk } from "../desk";
import { QuietButton } from "./quiet-button";

const LETTER_TONE: Record<string, string> = { A: "text-good", D: "text-bad", M: "text-warn", R: "text-info" };

export function ChangeLetter({ file: { diff } }: { file: ChangedFile }) {
  const { letter, word } = CHANGE[diff.change];
  return (
    <span title={word} className={cx("w-3 shrink-0 text-center font-mono text-xs", LETTER_TONE[letter] ?? "text-info")}>
      <span aria-hidden>{letter}</span>
      <span className="sr-only">{word}: </span>
    </span>
  );
}

interface Props {
  file: ChangedFile;
  open: boolean;
  isViewed: boolean;
  /** How many are written on it. */
  comments: number;
  onOpen: (open: boolean) => void;
  onViewed: (viewed: boolean) => void;
  onDelete: () => void;
}

export function FileHead({ file, open, isViewed, comments, onOpen, onViewed, onDelete }: Props) {
  const { attemptId } = useDesk();
  const { path, diff } = file;
  const was = diff.oldPath && diff.oldPath !== path ? diff.oldPath : undefined;
  const menuButton = (
    <QuietButton label={`More for ${path}`}>
      <EllipsisVertical className="size-4" aria-hidden />
    </QuietButton>
  );
  return (
    <header
      className={cx(
        "sticky top-0 z-10 flex h-10 min-w-0 items-center gap-2 bg-surface pr-1 pl-1",
        open ? "rounded-t-md border-line border-b" : "rounded-md",
      )}
    >
      <QuietButton label={open ? `Fold ${path}` : `Unfold ${path}`} aria-expanded={open} onClick={() => onOpen(!open)}>
        <ChevronDown className={cx("size-4 transition-transform", !open && "-rotate-90")} aria-hidden />
      </QuietButton>
      <ChangeLetter file={file} />
      <h3 className="min-w-0 flex-1">
        <PathName path={path} was={was} />
      </h3>
      {comments > 0 && (
        <Badge tone="accent" icon={<MessageSquare aria-hidden />} title={count(comments, "comment")}>
          {comments}
        </Badge>
      )}
      <Figures additions={diff.additions} deletions={diff.deletions} />
      <label className="flex h-7 shrink-0 cursor-pointer select-none items-center gap-1.5 rounded-sm px-1.5 text-muted text-xs hover:bg-hover">
        <input
          type="checkbox"
          checked={isViewed}
          onChange={(event) => onViewed(event.target.checked)}
          className="size-3.5 accent-accent"
        />
        <span className="max-sm:sr-only">Viewed</span>
      </label>
      <Menu trigger={menuButton}>
        <MenuItem icon={<SquareArrowOutUpRight aria-hidden />} onSelect={() => void openInEditor(attemptId, path)}>
          Open in editor
        </MenuItem>
        <MenuItem icon={<Copy aria-hidden />} onSelect={() => void copyText(path, "Path copied")}>
          Copy path
        </MenuItem>
        {diff.change !== "deleted" && (
          <>
            <MenuLine />
            <MenuItem icon={<Trash2 aria-hidden />} danger onSelect={onDelete}>
              Delete file
            </MenuItem>
          </>
        )}
      </Menu>
    </header>
  );
}
