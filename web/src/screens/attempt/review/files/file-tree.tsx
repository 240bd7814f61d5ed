// The changed files as a tree beside the list. Folders fold; the boxes say which files were seen.

import { ChevronDown, Folder } from "lucide-react";
import { useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { VList, type VListHandle } from "virtua";
import type { ChangedFile } from "../../../../live/diff";
import { Figures } from "../../../../parts/changed";
import { cx } from "../../../../ui/class";
import { TextField } from "../../../../ui/field";
import { useDesk } from "../desk";
import { ChangeLetter } from "./file-head";
import { filterFiles, type Row, treeRows } from "./tree";
import { useViewed } from "./viewed";

interface Props {
  files: readonly ChangedFile[];
  current: string | undefined;
  onChoose: (path: string) => void;
}

export function FileTree({ files, current, onChoose }: Props) {
  const [typed, setTyped] = useState("");
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const list = useRef<VListHandle>(null);
  const words = useDeferredValue(typed);
  const rows = useMemo(() => treeRows(filterFiles(files, words), closed), [files, words, closed]);
  const at = rows.findIndex((row) => row.kind === "file" && row.key === current);
  useEffect(() => {
    if (at >= 0) list.current?.scrollToIndex(at, { align: "nearest" });
  }, [at]);
  const fold = (key: string): void => {
    const next = new Set(closed);
    if (!next.delete(key)) next.add(key);
    setClosed(next);
  };
  return (
    <nav aria-label="Changed files" className="flex h-full flex-col gap-1">
      <div className="p-2 pb-1">
        <TextField
          label="Filter files"
          hideLabel
          placeholder="Filter files"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      </div>
      {rows.length === 0 && <p className="px-3 py-2 text-faint text-sm">No matching files</p>}
      <VList ref={list} className="min-h-0 flex-1 pb-2">
        {rows.map((row) =>
          row.kind === "folder" ? (
            <FolderRow key={`d ${row.key}`} row={row} onFold={fold} />
          ) : (
            <FileRow key={`f ${row.key}`} row={row} isCurrent={row.key === current} onChoose={onChoose} />
          ),
        )}
      </VList>
    </nav>
  );
}

const ROW = "flex h-8 w-full min-w-0 items-center gap-1.5 rounded-sm pr-2 text-left text-sm hover:bg-hover";
const FILE = "flex h-8 min-w-0 flex-1 items-center gap-1.5 rounded-sm text-left text-sm";
const indent = (depth: number): { paddingLeft: string } => ({ paddingLeft: `${0.375 + depth * 0.875}rem` });

function FolderRow({ row, onFold }: { row: Row & { kind: "folder" }; onFold: (key: string) => void }) {
  return (
    <div className="px-2">
      <button
        type="button"
        aria-expanded={row.open}
        className={cx(ROW, "text-muted")}
        style={indent(row.depth)}
        onClick={() => onFold(row.key)}
      >
        <ChevronDown className={cx("size-3.5 shrink-0 text-faint", !row.open && "-rotate-90")} aria-hidden />
        <Folder className="size-3.5 shrink-0 text-faint" aria-hidden />
        <span className="min-w-0 flex-1 truncate">{row.name}</span>
        {!row.open && <span className="text-faint text-xs tabular">{row.files}</span>}
      </button>
    </div>
  );
}

interface FileRowProps {
  row: Row & { kind: "file" };
  isCurrent: boolean;
  onChoose: (path: string) => void;
}

function FileRow({ row: { file, name, depth }, isCurrent, onChoose }: FileRowProps) {
  const viewed = useViewed(useDesk().viewed);
  const isViewed = viewed.has(file);
  return (
    <div className="px-2">
      <div className={cx("flex h-8 rounded-sm hover:bg-hover", isCurrent && "bg-press")}>
        <button
          type="button"
          aria-current={isCurrent || undefined}
          title={file.path}
          className={cx(FILE, isCurrent && "font-medium", isViewed && "text-faint")}
          style={indent(depth)}
          onClick={() => onChoose(file.path)}
        >
          <ChangeLetter file={file} />
          <span className="min-w-0 flex-1 truncate">{name}</span>
          <Figures additions={file.diff.additions} deletions={file.diff.deletions} />
        </button>
        <label className="flex size-8 cursor-pointer items-center justify-center" title="Viewed">
          <input
            type="checkbox"
            aria-label={`Viewed ${file.path}`}
            checked={isViewed}
            onChange={(event) => viewed.set(file, event.target.checked)}
            className="size-3.5 accent-accent"
          />
        </label>
      </div>
    </div>
  );
}
