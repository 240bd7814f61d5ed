// The table of files that either attempt changed, and below it both patches of the chosen one.

import { useMemo } from "react";
import { Virtualizer } from "virtua";
import type { ChangedFile } from "../../live/diff";
import { Figures, PathName } from "../../parts/changed";
import { Badge } from "../../ui/badge";
import { cx } from "../../ui/class";
import { Empty } from "../../ui/state";
import { PatchView } from "./patch-view";
import { type BothSides, bothSides } from "./sides";

interface Sides<T> {
  a: T;
  b: T;
}

interface Props {
  ids: Sides<string>;
  files: Sides<readonly ChangedFile[]>;
  chosen: string | undefined;
  onChoose: (path: string) => void;
}

const WHO = { a: "Only A", b: "Only B", both: "Both" } as const;
const COLUMNS =
  "grid grid-cols-[minmax(0,1fr)_5.5rem_7rem_7rem] items-center gap-2 px-4 max-sm:grid-cols-[minmax(0,1fr)_5.5rem]";

export function CompareFiles({ ids, files, chosen, onChoose }: Props) {
  const rows = useMemo(() => bothSides(files.a, files.b), [files.a, files.b]);
  if (rows.length === 0) return <Empty title="Neither attempt changed a file" />;
  const row = rows.find(({ path }) => path === chosen) ?? rows[0];
  return (
    <>
      <section aria-label="Files" className="border-line border-b">
        <div className={cx(COLUMNS, "h-8 border-line border-b text-faint text-xs")} aria-hidden>
          <span>File</span>
          <span>Changed by</span>
          <span className="text-right max-sm:hidden">A</span>
          <span className="text-right max-sm:hidden">B</span>
        </div>
        <div className="max-h-72 overflow-y-auto py-1">
          <Virtualizer>
            {rows.map((each) => (
              <FileRow key={each.path} row={each} isChosen={each === row} onChoose={onChoose} />
            ))}
          </Virtualizer>
        </div>
      </section>
      {row && (
        <div className="grid divide-line max-md:divide-y md:grid-cols-2 md:divide-x">
          <Patch letter="A" attemptId={ids.a} path={row.path} file={row.a} />
          <Patch letter="B" attemptId={ids.b} path={row.path} file={row.b} />
        </div>
      )}
    </>
  );
}

interface RowProps {
  row: BothSides;
  isChosen: boolean;
  onChoose: (path: string) => void;
}

function FileRow({ row, isChosen, onChoose }: RowProps) {
  return (
    <button
      type="button"
      aria-pressed={isChosen}
      className={cx(COLUMNS, "h-8 w-full text-left hover:bg-hover", isChosen && "bg-press")}
      onClick={() => onChoose(row.path)}
    >
      <PathName path={row.path} />
      <span>
        <Badge tone={row.who === "both" ? "warn" : "neutral"}>{WHO[row.who]}</Badge>
      </span>
      <OneSum file={row.a} letter="A" />
      <OneSum file={row.b} letter="B" />
    </button>
  );
}

function OneSum({ file, letter }: { file: ChangedFile | undefined; letter: string }) {
  return (
    <span className="text-right max-sm:hidden">
      {file ? (
        <>
          <span className="sr-only">{letter}: </span>
          <Figures additions={file.diff.additions} deletions={file.diff.deletions} />
        </>
      ) : (
        <span className="text-faint" aria-hidden>
          –
        </span>
      )}
    </span>
  );
}

interface PatchProps {
  letter: string;
  attemptId: string;
  path: string;
  file: ChangedFile | undefined;
}

function Patch({ letter, attemptId, path, file }: PatchProps) {
  return (
    <section aria-label={`${path} in attempt ${letter}`} className="min-w-0">
      <h2 className="sticky top-0 z-10 flex h-9 items-center gap-2 border-line border-b bg-surface px-4">
        <Badge>{letter}</Badge>
        <PathName path={path} />
        {file && (
          <span className="ml-auto">
            <Figures additions={file.diff.additions} deletions={file.diff.deletions} />
          </span>
        )}
      </h2>
      {file ? (
        <PatchView attemptId={attemptId} file={file} />
      ) : (
        <p className="p-6 text-center text-faint text-sm">Attempt {letter} did not change this file.</p>
      )}
    </section>
  );
}
