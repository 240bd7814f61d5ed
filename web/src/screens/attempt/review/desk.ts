// What every part of one review shares.

import { createContext, useContext } from "react";
import type { CommentStore } from "./comments/comments";
import type { ViewedFiles } from "./files/viewed";

export type DiffView = "unified" | "split";

export interface Desk {
  projectId: string;
  attemptId: string;
  view: DiffView;
  comments: CommentStore;
  viewed: ViewedFiles;
  /** The file that the reader is at. */
  enter: (path: string) => void;
  /** What `c` does in a file whose lines are shown. */
  commenters: Map<string, () => void>;
}

const DeskContext = createContext<Desk | null>(null);
export const DeskRoom = DeskContext.Provider;

export function useDesk(): Desk {
  const desk = useContext(DeskContext);
  if (desk === null) throw new Error("no review around this");
  return desk;
}
