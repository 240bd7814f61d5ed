// What is asked about an attempt's branch and its changes.

import { queryOptions } from "@tanstack/react-query";
import { fileAddress, forge } from "../forge";
import { FIXED, LOOKED_UP } from "../freshness";
import { keys } from "../keys";
import { partOf } from "../patch-files";

export const branchStatusQuery = (attemptId: string) =>
  queryOptions({
    queryKey: keys.branchStatus(attemptId),
    queryFn: () => forge.getTaskAttemptBranchStatus(attemptId),
    ...LOOKED_UP,
  });

/** How much an attempt changed, without the changes themselves. */
export const figuresQuery = (attemptId: string) =>
  queryOptions({
    queryKey: keys.figures(attemptId),
    queryFn: async () => {
      const given = { path: { attempt_id: attemptId }, query: { max_bytes: 0 } };
      const figures = await forge.request("GET /api/task-attempts/{attempt_id}/diff", given);
      return { files: figures.files_changed, additions: figures.additions, deletions: figures.deletions };
    },
    retry: false,
    ...LOOKED_UP,
  });

/** The patch of one file as text. `revision` is the file's in `live/diff`: a newer one is another answer. */
export const patchQuery = (attemptId: string, path: string, revision: number) =>
  queryOptions({
    queryKey: keys.patch(attemptId, path, revision),
    queryFn: async () => {
      const given = { path: { attempt_id: attemptId }, query: { path } };
      return partOf(await forge.request("GET /api/task-attempts/{attempt_id}/diff", given), path);
    },
    gcTime: 60_000,
    ...FIXED,
  });

/** A file before the attempt, line by line, for what a patch leaves out. A rebase changes it. */
export const oldLinesQuery = (attemptId: string, path: string) =>
  queryOptions({
    queryKey: keys.oldLines(attemptId, path),
    queryFn: async () => {
      const response = await fetch(fileAddress(attemptId, path, "old"));
      if (!response.ok) throw new Error(`The lines could not be loaded (${response.status}).`);
      const lines = (await response.text()).split("\n");
      // A newline at the end ends the last line; it begins no other.
      return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
    },
    gcTime: 60_000,
    retry: false,
    ...LOOKED_UP,
  });

/** How many bytes a file has on one side; null when the server does not say. */
export const fileSizeQuery = (attemptId: string, path: string, side: "old" | "new", revision: number) =>
  queryOptions({
    queryKey: keys.fileSize(attemptId, path, side, revision),
    queryFn: async () => {
      const response = await fetch(fileAddress(attemptId, path, side), { method: "HEAD" });
      const size = response.headers.get("content-length");
      return response.ok && size !== null ? Number(size) : null;
    },
    gcTime: 60_000,
    retry: false,
    ...FIXED,
  });

/** How far the attempt's branch has come since a commit. */
export const commitDistanceQuery = (attemptId: string, sha: string) =>
  queryOptions({
    queryKey: keys.commitDistance(attemptId, sha),
    queryFn: () => forge.compareCommitToHead(attemptId, sha),
    staleTime: 0,
  });
