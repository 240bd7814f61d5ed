// The log of one process: numbered lines that follow the end, with search, wrapping and download.
// Invariant: only lines in view are in the page; while the reader is above the end, no line they might read is taken away.

import type { ExecutionProcess } from "@forge/client";
import { ArrowDown, ChevronsUp } from "lucide-react";
import { type ReactNode, useDeferredValue, useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { Virtualizer, type VirtualizerHandle } from "virtua";
import { keepWord, keptWord } from "../../../kept/kept";
import { useChannel } from "../../../live/channel";
import { earlierLines, type Line, rawLogChannel, WINDOW } from "../../../live/raw-log";
import { Button } from "../../../ui/button";
import { cx } from "../../../ui/class";
import { count } from "../../../ui/format";
import { Empty, Failure, messageOf, Waiting } from "../../../ui/state";
import { toast } from "../../../ui/toast";
import { useFollowing } from "../following";
import { TailView, useTail } from "../tail";
import { RawLine } from "./raw-line";
import { Search, step } from "./raw-search";
import { RawTools } from "./raw-tools";

const PAGE = 20_000;
const LINE_PX = 20;
/** The height above the first line, with and without a way to earlier ones. */
const HEAD_PX = { more: 40, none: 8 };

export function RawLogView({ process, chooser }: { process: ExecutionProcess; chooser: ReactNode }) {
  const { value: log, phase, error, retry } = useChannel(rawLogChannel(process.id));
  const scroller = useRef<HTMLElement>(null);
  const list = useRef<VirtualizerHandle>(null);
  const [following, follow] = useFollowing(scroller);
  const [isWrapped, setWrapped] = useState(() => keptWord("raw.wrap") === "yes");
  const { lines, isDetached, loadEarlier, isLoading, reattach } = useLines(process.id, log.lines, following);
  const [query, setQuery] = useState("");
  const wanted = useDeferredValue(query);
  const [search] = useState(() => new Search());
  const found = search.find(lines, wanted);
  const [at, setAt] = useState(0);
  const first = lines[0]?.number ?? 1;
  const { listed, tail } = useTail(lines, following && !isDetached, phase === "ended", () => LINE_PX);
  const isPrepended = usePrepended(first);

  const show = (number: number | undefined): void => {
    if (number === undefined) return;
    setAt(number);
    follow(false);
    list.current?.scrollToIndex(number - first, { align: "center" });
  };
  const goTo = (way: 1 | -1): void => show(step(found, at, way));
  const toEnd = (): void => {
    reattach();
    follow(true);
  };

  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <RawTools
        process={process}
        chooser={chooser}
        query={query}
        onQuery={(text) => {
          setQuery(text);
          setAt(0);
        }}
        found={found.length}
        position={found.indexOf(at) + 1}
        onStep={goTo}
        isWrapped={isWrapped}
        onWrap={(wrap) => {
          setWrapped(wrap);
          keepWord("raw.wrap", wrap ? "yes" : "no");
        }}
      />
      {phase === "failed" && <Failure error={error} onRetry={retry} />}
      <div className="relative min-h-0 flex-1">
        <section
          ref={scroller}
          aria-label="Raw log"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
          tabIndex={0}
          className="h-full overflow-auto bg-sunken font-mono text-xs leading-5 outline-offset-[-2px] [overflow-anchor:none]"
        >
          <div>
            <div className={cx("sticky left-0 flex items-center justify-center font-sans", first > 1 ? "h-10" : "h-2")}>
              {first > 1 && (
                <Button
                  weight="ghost"
                  size="sm"
                  busy={isLoading}
                  icon={<ChevronsUp className="size-4" aria-hidden />}
                  onClick={loadEarlier}
                >
                  Earlier lines ({count(first - 1, "line")} above)
                </Button>
              )}
            </div>
            <Virtualizer
              // Sizes that were measured with the other wrapping say nothing.
              key={String(isWrapped)}
              ref={list}
              scrollRef={scroller}
              data={listed}
              itemSize={LINE_PX}
              startMargin={first > 1 ? HEAD_PX.more : HEAD_PX.none}
              shift={isPrepended}
            >
              {(line: Line) => (
                <RawLine
                  key={line.number}
                  line={line}
                  isWrapped={isWrapped}
                  query={wanted}
                  isCurrent={line.number === at && wanted !== ""}
                />
              )}
            </Virtualizer>
            <div className="h-4" />
          </div>
        </section>
        {tail && (
          <TailView className="bg-sunken pb-4 font-mono text-xs leading-5">
            {tail.map((line) => (
              <RawLine key={line.number} line={line} isWrapped={isWrapped} query={wanted} isCurrent={false} />
            ))}
          </TailView>
        )}
        {lines.length === 0 && (
          <div className="absolute inset-0">
            {phase === "ended" ? <Empty title="No output" /> : <Waiting what="Waiting for output" />}
          </div>
        )}
        {(!following || isDetached) && (
          <div className="pointer-events-none absolute inset-x-0 bottom-3 flex justify-center">
            <Button
              size="sm"
              icon={<ArrowDown className="size-3.5" aria-hidden />}
              className="pointer-events-auto rounded-full! bg-raised! px-3! shadow-pop!"
              onClick={toEnd}
            >
              Jump to latest
            </Button>
          </div>
        )}
      </div>
    </div>
  );
}

/** What is shown: the newest lines, those that were there when the reader went up, or earlier ones that they asked for. */
function useLines(processId: string, live: readonly Line[], following: boolean) {
  const [asked, setAsked] = useState<readonly Line[]>();
  const [isLoading, setLoading] = useState(false);
  const held = useRef(live);
  const isCut = (live[0]?.number ?? 1) > (held.current[0]?.number ?? 1);
  if (following || !isCut) held.current = live;
  const lines = asked ?? held.current;
  const loadEarlier = async (): Promise<void> => {
    const first = lines[0]?.number ?? 1;
    setLoading(true);
    try {
      const earlier = await earlierLines(processId, first, PAGE);
      if (earlier.length === 0) return;
      // The window moves up: what is far below is let go, and is there again at the newest. First the one, then the
      // other, so that the list knows at which of its ends lines go and come.
      const rest = lines.slice(0, WINDOW - earlier.length);
      flushSync(() => setAsked(rest));
      setAsked([...earlier, ...rest]);
    } catch (error) {
      toast.failed(messageOf(error));
    } finally {
      setLoading(false);
    }
  };
  return { lines, isDetached: asked !== undefined, isLoading, loadEarlier, reattach: () => setAsked(undefined) };
}

/** True in the one rendering in which lines have come before the first one. */
function usePrepended(first: number): boolean {
  const before = useRef(first);
  const isPrepended = first < before.current;
  useEffect(() => {
    before.current = first;
  });
  return isPrepended;
}
