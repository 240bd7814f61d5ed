// One use of a tool: a quiet line that says what was done and how it went; more when it is opened.

import type { ToolUseEntry } from "@forge/client";
import {
  Ban,
  Check,
  CircleHelp,
  Clock,
  FilePen,
  FileText,
  Globe,
  ListTodo,
  LoaderCircle,
  type LucideIcon,
  Map as MapIcon,
  Minus,
  Search,
  Send,
  SquareTerminal,
  Wrench,
  X,
} from "lucide-react";
import { Figures } from "../../../parts/changed";
import { cx } from "../../../ui/class";
import { Chevron } from "./message";
import { useOpened } from "./opened";
import { ToolBody } from "./tool-body";
import { hasMore, type Outcome, outcomeOf, type Picture, wordsOf } from "./tool-words";

const PICTURE: Record<Picture, LucideIcon> = {
  command: SquareTerminal,
  edit: FilePen,
  read: FileText,
  search: Search,
  fetch: Globe,
  tool: Wrench,
  task: Send,
  plan: MapIcon,
  todo: ListTodo,
  other: Wrench,
};

const OUTCOME: Record<Outcome, { icon: LucideIcon; word: string; className: string }> = {
  working: { icon: LoaderCircle, word: "Running", className: "animate-spin text-accent" },
  ok: { icon: Check, word: "Done", className: "text-good" },
  failed: { icon: X, word: "Failed", className: "text-bad" },
  denied: { icon: Ban, word: "Denied", className: "text-warn" },
  "timed-out": { icon: Clock, word: "Timed out", className: "text-warn" },
  asks: { icon: CircleHelp, word: "Waiting for your answer", className: "text-warn" },
  "cut-off": { icon: Minus, word: "Cut off", className: "text-faint" },
};

interface Props {
  id: string;
  use: ToolUseEntry;
  isAlive: boolean;
}

export function ToolLine({ id, use, isAlive }: Props) {
  const outcome = outcomeOf(use, isAlive);
  const isPlan = use.action_type.action === "plan_presentation";
  const [isOpen, toggle] = useOpened(id, isPlan);
  const opens = hasMore(use.action_type);
  const { picture, verb, object, isCode, added, removed } = wordsOf(use, outcome);
  const Icon = PICTURE[picture];
  const state = OUTCOME[outcome];
  const reason = use.status.status === "denied" ? use.status.reason : undefined;
  const line = (
    <>
      <Icon className="size-3.5 shrink-0 text-faint" aria-hidden />
      <span className="shrink-0 text-muted">{verb}</span>
      <span className={cx("min-w-0 truncate", isCode && "font-mono text-xs")}>{object}</span>
      {added !== undefined && <Figures additions={added} deletions={removed ?? 0} />}
      {opens && <Chevron isOpen={isOpen} />}
      <span className="ml-auto flex shrink-0 items-center gap-1.5 text-muted text-xs">
        {outcome !== "ok" && outcome !== "working" && <span>{state.word}</span>}
        <state.icon className={cx("size-3.5", state.className)} aria-hidden />
        {(outcome === "ok" || outcome === "working") && <span className="sr-only">{state.word}</span>}
      </span>
    </>
  );
  const shape = "flex min-h-7 w-full items-center gap-2 rounded-sm text-left text-sm";
  return (
    <div>
      {opens ? (
        <button type="button" aria-expanded={isOpen} onClick={toggle} className={cx(shape, "hover:bg-hover")}>
          {line}
        </button>
      ) : (
        <div className={shape}>{line}</div>
      )}
      {reason && <p className="pb-1 pl-5.5 text-muted text-sm">“{reason}”</p>}
      {isOpen && opens && <ToolBody id={id} action={use.action_type} />}
    </div>
  );
}
