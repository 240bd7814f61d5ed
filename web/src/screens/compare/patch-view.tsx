// The patch of one file, to read only.

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Diff, parseDiff } from "react-diff-view";
import { patchQuery } from "../../api/queries/review";
import type { ChangedFile } from "../../live/diff";
import { useTokens } from "../../parts/patch/colours";
import { languageOf } from "../../parts/patch/kind";
import { firstLines, isBinary } from "../../parts/patch/patch";
import { Failure, Waiting } from "../../ui/state";

const ROWS = 1_500;

export function PatchView({ attemptId, file }: { attemptId: string; file: ChangedFile }) {
  const { data: part, error, refetch } = useQuery(patchQuery(attemptId, file.path, file.revision));
  const { hunks, left } = useMemo(() => {
    const all = part && !isBinary(part) ? (parseDiff(part)[0]?.hunks ?? []) : [];
    return firstLines(all, ROWS);
  }, [part]);
  const tokens = useTokens(hunks, languageOf(file.path));
  if (error) return <Failure error={error} onRetry={() => void refetch()} />;
  if (part === undefined) return <Waiting what="Loading patch" />;
  if (hunks.length === 0) {
    return (
      <p className="p-4 text-center text-muted text-sm">
        {isBinary(part) ? "A binary file." : "No content changes (renamed, empty or mode change)."}
      </p>
    );
  }
  return (
    <>
      <Diff viewType="unified" diffType="modify" hunks={hunks} tokens={tokens} />
      {left > 0 && <p className="p-2 text-center text-faint text-xs">{left.toLocaleString("en-US")} more lines</p>}
    </>
  );
}
