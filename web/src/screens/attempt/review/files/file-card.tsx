// One changed file in the list: head, and below it what the change allows to show. Its patch is loaded when it is mounted.
// Invariant: it has about its final height before the patch is there, so that what is below does not jump.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { memo, type ReactNode, useEffect, useMemo, useState } from "react";
import { parseDiff } from "react-diff-view";
import { patchQuery } from "../../../../api/queries/review";
import type { ChangedFile } from "../../../../live/diff";
import { foldedBecause } from "../../../../parts/patch/kind";
import { fingerprint, isBinary, modeChange } from "../../../../parts/patch/patch";
import { Button } from "../../../../ui/button";
import { Failure } from "../../../../ui/state";
import { useComments, writtenOnes } from "../comments/comments";
import { useDesk } from "../desk";
import { FileBinary } from "./file-binary";
import { FileDiff } from "./file-diff";
import { FileHead } from "./file-head";
import { useKept } from "./list-memory";
import { useViewed } from "./viewed";

interface Props {
  file: ChangedFile;
  onDelete: (path: string) => void;
}

const LINE_PX = 20;
const CONTEXT_LINES = 8;
const TALLEST_PX = 2_000;

export const FileCard = memo(function FileCard({ file, onDelete }: Props) {
  const desk = useDesk();
  const viewed = useViewed(desk.viewed);
  const isViewed = viewed.has(file);
  const comments = writtenOnes(useComments(desk.comments));
  const because = foldedBecause(file.path, file.diff);
  const [asked, setAsked] = useKept<boolean | undefined>(`open ${desk.attemptId} ${file.path}`, undefined);
  const open = asked ?? !isViewed;
  const [shown, setShown] = useKept(`shown ${desk.attemptId} ${file.path}`, because === undefined);
  const view = (is: boolean): void => {
    viewed.set(file, is);
    setAsked(undefined);
  };
  return (
    <section
      aria-label={file.path}
      className="mx-3 mt-3 rounded-md border border-line bg-surface shadow-card outline-accent has-[[data-lines]:focus-visible]:outline-2"
      onFocus={() => desk.enter(file.path)}
    >
      <FileHead
        file={file}
        open={open}
        isViewed={isViewed}
        comments={comments.filter((comment) => comment.path === file.path).length}
        onOpen={setAsked}
        onViewed={view}
        onDelete={() => onDelete(file.path)}
      />
      {open &&
        (shown ? (
          <FileBody file={file} />
        ) : (
          <Note>
            {because}.{" "}
            <Button size="sm" onClick={() => setShown(true)}>
              Show
            </Button>
          </Note>
        ))}
    </section>
  );
});

const Note = ({ children }: { children: ReactNode }) => (
  <p className="flex items-center justify-center gap-2 p-4 text-muted text-sm">{children}</p>
);

const PASSING_MS = 100;

/** Files that only fly by while the list moves are not worth a question. */
function useStays(): boolean {
  const [stays, setStays] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setStays(true), PASSING_MS);
    return () => clearTimeout(timer);
  }, []);
  return stays;
}

function FileBody({ file }: { file: ChangedFile }) {
  const { attemptId, viewed } = useDesk();
  const query = patchQuery(attemptId, file.path, file.revision);
  const enabled = useStays();
  const {
    data: part,
    error,
    refetch,
    isPlaceholderData,
  } = useQuery({
    ...query,
    enabled,
    placeholderData: keepPreviousData,
  });
  const hunks = useMemo(() => (part && !isBinary(part) ? (parseDiff(part)[0]?.hunks ?? []) : []), [part]);
  useEffect(() => {
    if (part !== undefined && !isPlaceholderData) viewed.note(file, fingerprint(part));
  }, [viewed, file, part, isPlaceholderData]);
  if (part === undefined) {
    if (error) return <Failure error={error} onRetry={() => void refetch()} />;
    const { change, additions, deletions } = file.diff;
    const around = change === "added" || change === "deleted" ? 0 : CONTEXT_LINES;
    const lines = (additions ?? 0) + (deletions ?? 0) + around;
    return <div aria-busy style={{ height: Math.min(TALLEST_PX, lines * LINE_PX) }} />;
  }
  if (isBinary(part)) return <FileBinary file={file} />;
  const mode = modeChange(part);
  if (hunks.length > 0) {
    return (
      <div className="overflow-clip rounded-b-md">
        {mode && <ModeLine {...mode} />}
        <FileDiff file={file} hunks={hunks} />
      </div>
    );
  }
  if (mode) return <ModeLine {...mode} />;
  return <Note>{wordsFor(file, part)}</Note>;
}

function ModeLine({ from, to }: { from: string; to: string }) {
  return (
    <p className="border-line border-b px-3 py-1.5 text-muted text-xs last:border-b-0">
      Mode changed from <code className="font-mono">{from}</code> to <code className="font-mono">{to}</code>
      {to.endsWith("755") ? ": it can be run now." : "."}
    </p>
  );
}

function wordsFor({ diff }: ChangedFile, part: string): string {
  if (part === "") return "This diff is too large to display, or the file has just changed.";
  if (diff.change === "renamed") return "Renamed without other changes.";
  if (diff.change === "copied") return "Copied without changes.";
  return diff.change === "deleted" ? "An empty file was deleted." : "An empty file.";
}
