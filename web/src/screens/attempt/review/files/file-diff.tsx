// The lines of one file: patch, expanded surroundings, comments, and the cursor that keys move.

import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { type KeyboardEvent, type ReactElement, type ReactNode, useCallback, useEffect, useMemo, useRef } from "react";
import {
  type ChangeData,
  type ChangeEventArgs,
  Decoration,
  Diff,
  type DiffType,
  expandFromRawCode,
  type GutterOptions,
  getChangeKey,
  Hunk,
  type HunkData,
} from "react-diff-view";
import { oldLinesQuery } from "../../../../api/queries/review";
import type { ChangedFile } from "../../../../live/diff";
import { useTokens } from "../../../../parts/patch/colours";
import { languageOf } from "../../../../parts/patch/kind";
import { firstLines, gapBefore, linesOf, widen } from "../../../../parts/patch/patch";
import { Button } from "../../../../ui/button";
import { messageOf } from "../../../../ui/state";
import { toast } from "../../../../ui/toast";
import { CommentCard } from "../comments/comment-box";
import { placeComment } from "../comments/comment-place";
import { type Comment, useComments } from "../comments/comments";
import { useDesk } from "../desk";
import { GapLine } from "./gap-line";
import { commentPlace, useCursor } from "./line-cursor";
import { useKept } from "./list-memory";

/** More rows than this at once would hold up the page. */
const ROWS = 1_500;
const STEP = 20;

const DIFF_TYPE: Record<string, DiffType> = { added: "add", deleted: "delete", renamed: "rename", copied: "copy" };

export function FileDiff({ file, hunks: given }: { file: ChangedFile; hunks: HunkData[] }) {
  const { attemptId, view, comments, commenters } = useDesk();
  const { path, diff } = file;
  const body = useRef<HTMLDivElement>(null);
  const [opened, setOpened] = useKept<[number, number][]>(`opened ${attemptId} ${path} ${file.revision}`, []);
  const [rows, setRows] = useKept(`rows ${attemptId} ${path}`, ROWS);
  const oldPath = diff.oldPath ?? path;
  const old = useQuery({ ...oldLinesQuery(attemptId, oldPath), enabled: opened.length > 0 });

  const { hunks, left } = useMemo(() => {
    const source = old.data;
    const wide = source
      ? opened.reduce((all, [start, end]) => expandFromRawCode(all, source, start, end), given)
      : given;
    return firstLines(wide, rows);
  }, [given, opened, old.data, rows]);
  const lines = useMemo(() => linesOf(hunks), [hunks]);
  const tokens = useTokens(hunks, languageOf(path));
  const { chosen, choose, move } = useCursor(lines);

  const comment = useCallback(
    (about: readonly ChangeData[]): void => {
      const place = commentPlace(path, about);
      if (place) comments.begin(place);
    },
    [comments, path],
  );
  const commentHere = (): void => {
    const line = chosen.length > 0 ? undefined : move(1, false);
    comment(line ? [line] : chosen);
  };
  useEffect(() => {
    commenters.set(path, commentHere);
    return () => {
      commenters.delete(path);
    };
  });

  const chosenNow = useRef(chosen);
  chosenNow.current = chosen;
  const gutterEvents = useMemo(
    () => ({
      onClick: ({ change }: ChangeEventArgs, event: { shiftKey: boolean }) => {
        if (!change) return;
        const from = event.shiftKey ? chosenNow.current[0] : undefined;
        choose(change, event.shiftKey);
        const between = from ? [lines.indexOf(from), lines.indexOf(change)].sort((a, b) => a - b) : undefined;
        comment(between ? lines.slice(between[0], (between[1] ?? 0) + 1) : [change]);
      },
    }),
    [choose, comment, lines],
  );
  const codeEvents = useMemo(
    () => ({
      onClick: ({ change }: ChangeEventArgs, event: { shiftKey: boolean }) => {
        if (change && getSelection()?.isCollapsed !== false) choose(change, event.shiftKey);
      },
    }),
    [choose],
  );
  const renderGutter = useCallback(
    ({ side, inHoverState, renderDefault }: GutterOptions): ReactNode => (
      <>
        {renderDefault()}
        {inHoverState && (view === "split" || side === "new") && (
          // The cell around it listens; keys do the same with `c`.
          <span className="diff-add-comment" aria-hidden>
            <Plus className="size-3.5" />
          </span>
        )}
      </>
    ),
    [view],
  );

  const listen = (event: KeyboardEvent): void => {
    if (event.target !== body.current) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const line = move(event.key === "ArrowDown" ? 1 : -1, event.shiftKey);
      const key = line && CSS.escape(getChangeKey(line));
      body.current?.querySelector(`[data-change-key="${key}"]`)?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter") commentHere();
    else return;
    event.preventDefault();
  };

  const { widgets, apart } = useWidgets(path, hunks, () => body.current?.focus({ preventScroll: true }));
  const open = async (range: [number, number]): Promise<void> => {
    setOpened([...opened, range]);
    if (old.data) return;
    const { error } = await old.refetch();
    if (error) {
      setOpened([]);
      toast.failed(messageOf(error));
    }
  };
  const canWiden = diff.change !== "added" && diff.change !== "deleted" && left === 0;
  const gapAt = (index: number): ReactElement[] => {
    const gap = canWiden ? gapBefore(hunks, index, old.data?.length) : undefined;
    const between = index > 0 && index < hunks.length;
    if (!gap) return [];
    return [
      <Decoration key={`gap${index}`}>
        <GapLine
          gap={gap}
          title={hunks[index]?.content}
          busy={old.isFetching}
          onUp={index < hunks.length ? () => void open(widen(gap, STEP, true)) : undefined}
          onDown={between || index === hunks.length ? () => void open(widen(gap, STEP, false)) : undefined}
          onAll={gap.end !== undefined ? () => void open([gap.start, gap.end ?? gap.start]) : undefined}
        />
      </Decoration>,
    ];
  };
  const selected = useMemo(() => chosen.map(getChangeKey), [chosen]);
  const spoken = chosen.at(-1);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields; these are lines that arrow keys walk through
    <div
      ref={body}
      role="group"
      aria-label={`Lines of ${path}. Arrow keys choose a line, c comments on it.`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: one stop for all lines instead of one per line
      tabIndex={0}
      onKeyDown={listen}
      data-lines
      className="min-w-0 outline-none"
    >
      {apart.map(({ comment, note }) => (
        <CommentCard key={comment.id} comment={comment} note={note} onDone={() => body.current?.focus()} />
      ))}
      <Diff
        viewType={view}
        diffType={DIFF_TYPE[diff.change] ?? "modify"}
        hunks={hunks}
        tokens={tokens}
        widgets={widgets}
        selectedChanges={selected}
        renderGutter={renderGutter}
        gutterEvents={gutterEvents}
        codeEvents={codeEvents}
        optimizeSelection
      >
        {(shown) => [
          ...shown.flatMap((hunk, index) => [
            ...gapAt(index),
            <Hunk key={`${hunk.oldStart} ${hunk.newStart}`} hunk={hunk} />,
          ]),
          ...gapAt(shown.length),
        ]}
      </Diff>
      {left > 0 && (
        <div className="border-line border-t p-2 text-center">
          <Button size="sm" onClick={() => setRows(rows + ROWS)}>
            Show {Math.min(left, ROWS).toLocaleString("en-US")} of {left.toLocaleString("en-US")} more lines
          </Button>
        </div>
      )}
      <p className="sr-only" aria-live="polite">
        {spoken &&
          `${spoken.type === "normal" ? "" : spoken.type === "insert" ? "Added: " : "Removed: "}${spoken.content}`}
      </p>
    </div>
  );
}

/** Comments under their lines, and those that have none. */
function useWidgets(path: string, hunks: readonly HunkData[], onDone: () => void) {
  const all = useComments(useDesk().comments).comments;
  const done = useRef(onDone);
  done.current = onDone;
  return useMemo(() => {
    const under = new Map<string, Comment[]>();
    const apart: { comment: Comment; note: string }[] = [];
    for (const comment of all.filter((each) => each.path === path)) {
      const place = placeComment(comment, hunks);
      if (place.state === "here") {
        under.set(place.key, [...(under.get(place.key) ?? []), { ...comment, start: place.start, end: place.end }]);
      } else {
        const note = place.state === "outdated" ? "Outdated: the line has changed" : `Line ${comment.end} is not shown`;
        apart.push({ comment, note });
      }
    }
    const widgets: Record<string, ReactNode> = {};
    for (const [key, comments] of under) {
      widgets[key] = comments.map((each) => <CommentCard key={each.id} comment={each} onDone={() => done.current()} />);
    }
    return { widgets, apart };
  }, [all, path, hunks]);
}
