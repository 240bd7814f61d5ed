// What can be done with a raw log: choose the process, search, wrap, download.

import type { ExecutionProcess } from "@forge/client";
import { useMutation } from "@tanstack/react-query";
import { ChevronDown, ChevronUp, Download, Search, WrapText } from "lucide-react";
import { type ReactNode, useRef } from "react";
import { wholeLog } from "../../../live/raw-log";
import { bind } from "../../../shell/action";
import { CommandIcon } from "../../../shell/command";
import { useCommands } from "../../../shell/commands";
import { IconButton } from "../../../ui/button";
import { cx } from "../../../ui/class";
import { inputClass } from "../../../ui/field";
import { ariaKeys } from "../../../ui/kbd";
import { RAW } from "../actions";

interface Props {
  process: ExecutionProcess;
  chooser: ReactNode;
  query: string;
  onQuery: (query: string) => void;
  found: number;
  /** Which of the matches is shown, from 1; 0 when none is. */
  position: number;
  onStep: (way: 1 | -1) => void;
  isWrapped: boolean;
  onWrap: (isWrapped: boolean) => void;
}

export function RawTools(props: Props) {
  const { process, chooser, query, onQuery, found, position, onStep, isWrapped, onWrap } = props;
  const box = useRef<HTMLInputElement>(null);
  const download = useMutation({ mutationFn: () => wholeLog(process.id), onSuccess: (log) => hand(log, process.id) });
  const wrap = bind(RAW.wrap, () => onWrap(!isWrapped));
  useCommands([bind(RAW.search, () => box.current?.select()), wrap]);
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-2 border-line border-b px-4 py-2">
      <div className="w-56 max-w-full">{chooser}</div>
      <div className="flex min-w-52 flex-1 items-center gap-1 sm:ml-auto sm:max-w-md">
        <div className="relative min-w-0 flex-1">
          <Search className="absolute top-1/2 left-2.5 size-4 -translate-y-1/2 text-faint" aria-hidden />
          <input
            ref={box}
            type="search"
            aria-label={RAW.search.label}
            aria-keyshortcuts={ariaKeys(RAW.search.keys)}
            placeholder="Search"
            value={query}
            spellCheck={false}
            onChange={(event) => onQuery(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter") onStep(event.shiftKey ? -1 : 1);
              if (event.key === "Escape") {
                onQuery("");
                event.currentTarget.blur();
              }
            }}
            className={cx(inputClass, "pr-20! pl-8! [&::-webkit-search-cancel-button]:hidden")}
          />
          {query !== "" && (
            <span role="status" className="absolute top-1/2 right-2.5 -translate-y-1/2 text-faint text-xs tabular">
              {position > 0
                ? `${position} of ${found.toLocaleString("en-US")}`
                : `${found.toLocaleString("en-US")} found`}
            </span>
          )}
        </div>
        <IconButton label="Previous match" disabled={found === 0} onClick={() => onStep(-1)}>
          <ChevronUp className="size-4" aria-hidden />
        </IconButton>
        <IconButton label="Next match" disabled={found === 0} onClick={() => onStep(1)}>
          <ChevronDown className="size-4" aria-hidden />
        </IconButton>
      </div>
      <div className="flex items-center gap-1">
        <CommandIcon of={wrap} aria-pressed={isWrapped} className="aria-pressed:bg-press aria-pressed:text-ink">
          <WrapText className="size-4" aria-hidden />
        </CommandIcon>
        <IconButton label="Download the log" busy={download.isPending} onClick={() => download.mutate()}>
          <Download className="size-4" aria-hidden />
        </IconButton>
      </div>
    </div>
  );
}

function hand(log: Blob, processId: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(log);
  link.download = `${processId.slice(0, 8)}.log`;
  link.click();
  URL.revokeObjectURL(link.href);
}
