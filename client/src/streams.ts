// What each stream sends, one function per stream.

import type { Connection } from "./connection.js";
import { apply } from "./document.js";
import { type FollowOptions, follow, type Source } from "./follow.js";
import type {
  DiffDocument,
  DraftsDocument,
  NormalizedEntry,
  NormalizedLogEntry,
  PatchOp,
  PatchWord,
  ProcessesDocument,
  RawLogEntry,
  Sockets,
  TasksDocument,
} from "./types.js";

/** A document as it is now, and what has just changed in it. The document is one object that changes in place. */
export interface Change<T> {
  document: T;
  patch: PatchOp[];
}

/** One chunk of output. `index` is its number in the log, the same for every reader. */
export interface RawLogLine extends RawLogEntry {
  index: number;
}

export interface RawLogOptions extends FollowOptions {
  /** Begins with the last so many chunks instead of the first; each keeps its number. */
  tail?: number;
}

/** A change of the list of entries: `entry` is null when it was removed. */
export interface EntryChange {
  op: PatchWord;
  index: number;
  entry: NormalizedEntry | null;
}

const at = (connection: Connection, route: keyof Sockets, parts: Omit<Source, "connection" | "route">): Source => ({
  connection,
  route,
  // With a position a stream is numbered; 0 is before everything.
  after: 0,
  ...parts,
});

export function watchTasks(connection: Connection, project_id: string, options: FollowOptions) {
  const source = at(connection, "GET /api/tasks/stream/ws", { query: { project_id }, resume: "number" });
  return build<TasksDocument>(source, { tasks: {} }, options);
}

export function watchProcesses(
  connection: Connection,
  task_attempt_id: string,
  options: FollowOptions & { showSoftDeleted?: boolean },
) {
  const query = { task_attempt_id, show_soft_deleted: options.showSoftDeleted ?? false };
  const source = at(connection, "GET /api/execution-processes/stream/ws", { query, resume: "number" });
  return build<ProcessesDocument>(source, { execution_processes: {} }, options);
}

export function watchDrafts(connection: Connection, project_id: string, options: FollowOptions) {
  const source = at(connection, "GET /api/drafts/stream/ws", { query: { project_id }, resume: "number" });
  return build<DraftsDocument>(source, { drafts: {} }, options);
}

export function watchDiff(
  connection: Connection,
  attempt_id: string,
  options: FollowOptions & { statsOnly?: boolean },
) {
  const parts = { path: { attempt_id }, query: { stats_only: options.statsOnly ?? false } };
  const source = at(connection, "GET /api/task-attempts/{attempt_id}/diff/ws", { ...parts, resume: "restart" });
  return build<DiffDocument>(source, { entries: {} }, options);
}

export async function* watchRawLogs(
  connection: Connection,
  process_id: string,
  options: RawLogOptions,
): AsyncGenerator<RawLogLine, void> {
  const route = "GET /api/execution-processes/{process_id}/raw-logs/ws";
  const parts = { path: { process_id }, resume: "number", tail: options.tail } as const;
  for await (const operation of operations(at(connection, route, parts), options)) {
    yield { index: indexOf(operation), ...(operation.value as RawLogEntry) };
  }
}

export async function* watchNormalizedLogs(
  connection: Connection,
  process_id: string,
  options: FollowOptions,
): AsyncGenerator<EntryChange, void> {
  const route = "GET /api/execution-processes/{process_id}/normalized-logs/ws";
  for await (const operation of operations(
    at(connection, route, { path: { process_id }, resume: "number" }),
    options,
  )) {
    const value = operation.value as NormalizedLogEntry | undefined;
    yield { op: operation.op, index: indexOf(operation), entry: value?.content ?? null };
  }
}

async function* build<T extends object>(
  source: Source,
  empty: T,
  options: FollowOptions,
): AsyncGenerator<Change<T>, void> {
  let document = structuredClone(empty);
  for await (const frame of follow(source, options)) {
    if (frame === undefined) {
      document = structuredClone(empty);
      continue;
    }
    apply(document, frame.JsonPatch);
    yield { document, patch: frame.JsonPatch };
  }
}

async function* operations(source: Source, options: FollowOptions): AsyncGenerator<PatchOp, void> {
  for await (const frame of follow(source, options)) {
    if (frame !== undefined) yield* frame.JsonPatch;
  }
}

const indexOf = (operation: PatchOp): number => Number(operation.path.slice("/entries/".length));
