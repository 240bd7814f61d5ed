// The changed files one below the other; only those near the window exist.

import { type Ref, useImperativeHandle, useMemo, useRef } from "react";
import { VList, type VListHandle } from "virtua";
import type { ChangedFile } from "../../live/diff";
import { useComments } from "./comments";
import { useDesk } from "./desk";
import { FileCard } from "./file-card";

export interface FileListHandle {
  show: (path: string) => void;
}

interface Props {
  ref: Ref<FileListHandle>;
  files: readonly ChangedFile[];
  onPass: (path: string) => void;
  onDelete: (path: string) => void;
}

/** While a jump settles, where the list passes by is not where the reader is. */
const SETTLE_MS = 400;
const HEAD_PX = 60;

export function FileList({ ref, files, onPass, onDelete }: Props) {
  const list = useRef<VListHandle>(null);
  const jumped = useRef(0);
  const { comments } = useComments(useDesk().comments);
  // A box with the focus in it must not vanish while the list moves.
  const keepMounted = useMemo(() => {
    const open = new Set(comments.filter((comment) => comment.draft !== null).map((comment) => comment.path));
    return files.flatMap(({ path }, index) => (open.has(path) ? [index] : []));
  }, [files, comments]);
  useImperativeHandle(ref, () => ({
    show: (path) => {
      const index = files.findIndex((file) => file.path === path);
      if (index < 0) return;
      jumped.current = performance.now();
      list.current?.scrollToIndex(index, { align: "start" });
    },
  }));
  const pass = (offset: number): void => {
    if (performance.now() - jumped.current < SETTLE_MS) return;
    const file = files[list.current?.findItemIndex(offset + HEAD_PX) ?? -1];
    if (file) onPass(file.path);
  };
  return (
    <VList ref={list} onScroll={pass} keepMounted={keepMounted} bufferSize={600} className="h-full pb-3">
      {files.map((file) => (
        <FileCard key={file.path} file={file} onDelete={onDelete} />
      ))}
    </VList>
  );
}
