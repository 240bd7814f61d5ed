// The transcript: everything that was asked, said and done in an attempt, as one list.
// Invariants: only rows in view are in the page; what the reader reads does not move: older processes are put above it
// whole, and nothing is taken away while they are not at the end.

import type { ExecutionProcess } from "@forge/client";
import { ArrowDown } from "lucide-react";
import { type RefObject, useEffect, useImperativeHandle, useMemo, useRef, useState } from "react";
import { Virtualizer, type VirtualizerHandle } from "virtua";
import type { Entries } from "../../../live/entries";
import { Button } from "../../../ui/button";
import { Empty, Failure } from "../../../ui/state";
import { useFollowing } from "../following";
import { TailView, useTail } from "../tail";
import { type RowActions, RowView } from "./row";
import { indexOfApproval, leastPx, type Row, rowsOf } from "./rows";
import { type EntriesById, useEntries } from "./use-entries";

export interface TranscriptHandle {
  showApproval: (approvalId: string) => void;
  toEnd: () => void;
}

interface Props {
  processes: readonly ExecutionProcess[];
  /** The processes themselves are not known yet. */
  isWaiting: boolean;
  /** A question of the agent waits for an answer. */
  isAsking: boolean;
  actions: RowActions;
  handle: RefObject<TranscriptHandle | null>;
}

const FIRST = 3;
const MORE = 3;
const NEAR_TOP = 600;

export function Transcript({ processes, isWaiting, isAsking, actions: given, handle }: Props) {
  const scroller = useRef<HTMLElement>(null);
  const list = useRef<VirtualizerHandle>(null);
  const [following, follow] = useFollowing(scroller);
  const [loaded, setLoaded] = useState(FIRST);
  const entries = useEntries(useMemo(() => processes.filter(isAgent).slice(-loaded), [processes, loaded]));
  const from = firstReady(processes, entries);
  const fresh = useMemo(
    () => rowsOf(processes.slice(from), valuesOf(entries), isAsking),
    [processes, from, entries, isAsking],
  );
  const rows = useHeld(fresh, following);
  const isWhole = [...entries.values()].every(({ phase }) => phase === "ended");
  const { listed, tail } = useTail(rows, following, isWhole, leastPx);
  const isPrepended = useChanged(listed[0]?.key);
  const hasEarlier = from > 0;
  const isLoading = [...entries.values()].some(({ phase }) => phase === "connecting");
  const failed = [...entries.values()].find(({ phase }) => phase === "failed");

  const lookUp = (): void => {
    if (hasEarlier && !isLoading && (scroller.current?.scrollTop ?? 0) < NEAR_TOP) setLoaded((count) => count + MORE);
  };
  // Short ends do not fill the screen, and what cannot be scrolled asks for nothing.
  useEffect(lookUp);

  useImperativeHandle(handle, () => ({
    showApproval: (approvalId) => {
      const at = indexOfApproval(rows, approvalId);
      if (at < 0) return follow(true);
      follow(false);
      list.current?.scrollToIndex(at, { align: "center" });
    },
    toEnd: () => follow(true),
  }));

  const alive = useMemo(
    () => new Set(processes.filter(({ status }) => status === "running").map(({ id }) => id)),
    [processes],
  );
  const seen = useSeen(rows.length, following);
  const actions = useRef(given);
  actions.current = given;

  return (
    <div className="relative min-h-0 flex-1">
      <section
        ref={scroller}
        aria-label="Transcript"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
        tabIndex={0}
        onScroll={lookUp}
        className="h-full overflow-y-auto overflow-x-hidden outline-offset-[-2px] [overflow-anchor:none]"
      >
        <div className="mx-auto w-full max-w-4xl px-4 pt-3 pb-6">
          {failed && <Failure error={failed.error} onRetry={failed.retry} />}
          <Virtualizer ref={list} scrollRef={scroller} data={listed} startMargin={12} shift={isPrepended} itemSize={28}>
            {(row: Row) => <RowView key={row.key} row={row} isAlive={isOf(row, alive)} actions={actions} />}
          </Virtualizer>
        </div>
        {rows.length === 0 && !isWaiting && (
          <Empty title="Nothing has happened yet">The attempt is about to start.</Empty>
        )}
      </section>
      {tail && (
        <TailView className="bg-canvas">
          <div className="mx-auto w-full max-w-4xl px-4 pb-6">
            {tail.map((row) => (
              <RowView key={row.key} row={row} isAlive={isOf(row, alive)} actions={actions} />
            ))}
          </div>
        </TailView>
      )}
      {!following && (
        <div className="pointer-events-none absolute inset-x-0 bottom-3 flex justify-center">
          <Button
            size="sm"
            icon={<ArrowDown className="size-3.5" aria-hidden />}
            className="pointer-events-auto rounded-full! bg-raised! px-3! shadow-pop!"
            onClick={() => follow(true)}
          >
            Jump to latest
            {fresh.length > seen && <span className="text-accent tabular">{fresh.length - seen} new</span>}
          </Button>
        </div>
      )}
    </div>
  );
}

const isAgent = (process: ExecutionProcess): boolean => process.run_reason === "codingagent";

const isOf = (row: Row, alive: ReadonlySet<string>): boolean => row.kind === "entry" && alive.has(row.processId);

const valuesOf = (entries: EntriesById): ReadonlyMap<string, Entries> =>
  new Map([...entries].map(([id, { value }]) => [id, value]));

/** From which process on everything can be shown. Those that are far above come whole or not at all. */
function firstReady(processes: readonly ExecutionProcess[], entries: EntriesById): number {
  let agents = 0;
  for (let at = processes.length - 1; at >= 0; at--) {
    const process = processes[at];
    if (!process || !isAgent(process)) continue;
    const phase = entries.get(process.id)?.phase;
    if (phase === undefined || (++agents > FIRST && phase !== "ended" && phase !== "failed")) return at + 1;
  }
  return 0;
}

/** While somebody reads above the end, entries may come below, but none of those they see may go. */
function useHeld(fresh: Row[], following: boolean): Row[] {
  const held = useRef(fresh);
  const first = held.current.find(({ kind }) => kind === "entry")?.key;
  const isCut = first !== undefined && fresh.some(({ kind }) => kind === "left-out") && !hasKey(fresh, first);
  if (following || !isCut) held.current = fresh;
  return held.current;
}

const hasKey = (rows: readonly Row[], key: string): boolean => rows.some((row) => row.key === key);

/** True in the one rendering in which the first row is another one than before. */
function useChanged(key: string | undefined): boolean {
  const before = useRef(key);
  const changed = before.current !== undefined && before.current !== key;
  useEffect(() => {
    before.current = key;
  });
  return changed;
}

/** How many rows there were when the reader left the end. */
function useSeen(count: number, following: boolean): number {
  const seen = useRef(count);
  if (following) seen.current = count;
  return seen.current;
}
