// Above the files: how much changed, how much was seen, how it is shown, and the review that is being written.

import { Columns2, MessageSquareText, Rows2 } from "lucide-react";
import { useMemo, useState } from "react";
import { type ChangedFile, sumOf } from "../../../live/diff";
import { Figures } from "../../../parts/changed";
import type { Command } from "../../../shell/action";
import { CommandIcon } from "../../../shell/command";
import { Button } from "../../../ui/button";
import { Select } from "../../../ui/field";
import { count } from "../../../ui/format";
import { useComments, writtenOnes } from "./comments/comments";
import { ReviewTray } from "./comments/review-tray";
import { useDesk } from "./desk";
import { useIsWide } from "./files/view-choice";
import { useViewed } from "./files/viewed";

interface Props {
  files: readonly ChangedFile[];
  current: string | undefined;
  isRunning: boolean;
  isLanded: boolean;
  onChoose: (path: string) => void;
  /** Between unified and split. */
  toggle: Command;
}

export function ChangesBar({ files, current, isRunning, isLanded, onChoose, toggle }: Props) {
  const desk = useDesk();
  const viewed = useViewed(desk.viewed);
  const written = writtenOnes(useComments(desk.comments));
  const [isOpen, setOpen] = useState(false);
  const isWide = useIsWide();
  const { additions, deletions } = sumOf(files);
  const seen = files.filter((file) => viewed.has(file)).length;
  const paths = useMemo(() => new Set(files.map((file) => file.path)), [files]);
  const isSplit = desk.view === "split";
  return (
    <div className="flex min-h-11 shrink-0 flex-wrap items-center gap-x-3 gap-y-2 border-line border-b px-3 py-1.5 short:min-h-0 short:flex-nowrap short:py-1">
      <h2 className="flex items-center gap-2 text-sm" aria-live="polite">
        <span className="font-medium tabular">{count(files.length, "file")}</span>
        <Figures additions={additions} deletions={deletions} />
      </h2>
      {files.length > 0 && (
        <span className="text-faint text-xs tabular">
          {seen} of {files.length} viewed
        </span>
      )}
      <div className="ml-auto flex items-center gap-2">
        {isWide && files.length > 0 && (
          <CommandIcon of={toggle} label={isSplit ? "Show unified" : "Show split"} size="sm">
            {isSplit ? <Rows2 className="size-4" aria-hidden /> : <Columns2 className="size-4" aria-hidden />}
          </CommandIcon>
        )}
        {!isLanded && (
          <Button
            size="sm"
            weight={written.length > 0 ? "primary" : "plain"}
            icon={<MessageSquareText className="size-4" aria-hidden />}
            onClick={() => setOpen(true)}
          >
            Review{written.length > 0 && ` (${written.length})`}
          </Button>
        )}
      </div>
      {!isWide && files.length > 1 && (
        <div className="w-full min-w-0 short:order-none short:w-48">
          <Select
            label="File"
            hideLabel
            value={current}
            options={files.map(({ path, diff }) => ({
              value: path,
              label: `${path} (+${diff.additions ?? 0} −${diff.deletions ?? 0})`,
            }))}
            onChange={(event) => onChoose(event.target.value)}
          />
        </div>
      )}
      <ReviewTray open={isOpen} onOpenChange={setOpen} isRunning={isRunning} paths={paths} onChoose={onChoose} />
    </div>
  );
}
