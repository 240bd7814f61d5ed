// The changed files one below the other; only those near the window exist.

import { type Ref, useImperativeHandle, useMemo, useRef } from "react";
import { VList, type VListHandle } from "virtua";
import type { ChangedFile } from "../../../../live/diff";
import { useComments } from "../comments/comments";
import { useDesk } from "../desk";
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

/** After a jump, patches load and push things around: so long the file that was asked for is held in place. */
const HOLD_MS = 10_000;
const HEAD_PX = 60;

export function FileList({ ref, files, onPass, onDelete }: Props) {
  const list = useRef<VListHandle>(null);
  const held = useRef<{ path: string; until: number }>(undefined);
  const { comments } = useComments(useDesk().comments);
  // A box with the focus in it must not vanish while the list moves.
  const keepMounted = useMemo(() => {
    const open = new Set(comments.filter((comment) => comment.draft !== null).map((comment) => comment.path));
    return files.flatMap(({ path }, index) => (open.has(path) ? [index] : []));
  }, [files, comments]);
  const hold = (): boolean => {
    if (held.current === undefined || performance.now() > held.current.until) return false;
    const { path } = held.current;
    const index = files.findIndex((file) => file.path === path);
    if (index >= 0) list.current?.scrollToIndex(index, { align: "start" });
    return index >= 0;
  };
  useImperativeHandle(ref, () => ({
    show: (path) => {
      held.current = { path, until: performance.now() + HOLD_MS };
      hold();
    },
  }));
  const letGo = (): void => {
    held.current = undefined;
  };
  const pass = (offset: number): void => {
    if (held.current && performance.now() < held.current.until) return;
    const file = files[list.current?.findItemIndex(offset + HEAD_PX) ?? -1];
    if (file) onPass(file.path);
  };
  return (
    <VList
      ref={list}
      onScroll={pass}
      onResize={hold}
      // Whoever moves the list or works in it is not moved back.
      onWheel={letGo}
      onTouchMove={letGo}
      onPointerDown={letGo}
      onKeyDown={letGo}
      keepMounted={keepMounted}
      bufferSize={600}
      className="h-full scroll-pt-12 pb-3"
    >
      {files.map((file) => (
        <FileCard key={file.path} file={file} onDelete={onDelete} />
      ))}
    </VList>
  );
}
