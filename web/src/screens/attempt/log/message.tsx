// What people and agents said: one part for each kind of message.

import type { ErrorEntry, NormalizedEntry } from "@forge/client";
import { Brain, ChevronRight, CircleAlert, History, UserRound } from "lucide-react";
import { IconButton } from "../../../ui/button";
import { cx } from "../../../ui/class";
import { CopyButton } from "../../../ui/copy";
import { Literal } from "../../../ui/literal";
import { Markdown } from "../../../ui/markdown";
import { plain } from "../ansi";
import { AnsiText } from "../ansi-text";
import { useOpened } from "./opened";
import { type SetUpActions, SetUpBox } from "./set-up";
import { firstLine } from "./tool-words";

/** Long prompts are folded: what the agent made of them is what people come to read. */
const FOLD_AT = 600;
const ACTIONS =
  "opacity-0 transition-opacity group-hover:opacity-100 focus-within:opacity-100 pointer-coarse:opacity-100";

interface PromptProps {
  id: string;
  text: string;
  /** It is a program, not prose. */
  isScript?: boolean;
  /** Only what began a process can be said again. */
  onRetry?: () => void;
}

export function PromptMessage({ id, text, isScript, onRetry }: PromptProps) {
  const isLong = text.length > FOLD_AT || text.split("\n").length > 12;
  const [isOpen, toggle] = useOpened(id);
  return (
    <article
      aria-label="Message to the agent"
      className="group flex flex-wrap-reverse items-start justify-end gap-1 py-2 sm:flex-nowrap sm:pl-8"
    >
      <div className={cx("flex shrink-0", ACTIONS)}>
        <CopyButton text={text} label="Copy message" />
        {onRetry && (
          <IconButton label="Retry from here" size="sm" onClick={onRetry}>
            <History className="size-3.5" aria-hidden />
          </IconButton>
        )}
      </div>
      <div className="min-w-0 max-w-full rounded-lg rounded-br-sm border border-line bg-sunken px-3 py-2 text-base">
        {isScript ? (
          <pre
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
            tabIndex={0}
            className={cx("overflow-x-auto font-mono text-xs leading-5", isLong && !isOpen && "line-clamp-6")}
          >
            {text}
          </pre>
        ) : (
          <Literal text={text} className={cx(isLong && !isOpen && "line-clamp-6")} />
        )}
        {isLong && (
          <button type="button" onClick={toggle} className="mt-1 min-h-6 text-faint text-xs hover:text-ink">
            {isOpen ? "Show less" : "Show all"}
          </button>
        )}
      </div>
    </article>
  );
}

export function AgentMessage({ text }: { text: string }) {
  return (
    <article aria-label="Message from the agent" className="group relative py-1.5 pr-8 pointer-coarse:pr-12">
      <Markdown text={text} className="max-w-[72ch] text-base" />
      <CopyButton
        text={text}
        label="Copy message"
        className={cx("absolute top-0.5 right-0 bg-canvas", ACTIONS, "focus-visible:opacity-100")}
      />
    </article>
  );
}

/** The text of an entry with the colours of the terminal it was written for, where the server kept them. */
export function colouredText({ content, metadata }: NormalizedEntry): string {
  const known = typeof metadata === "object" && metadata !== null && "ansi" in metadata ? metadata.ansi : undefined;
  return typeof known === "string" ? known : content;
}

/** What a program wrote, letter by letter. */
export function ProgramOutput({ text }: { text: string }) {
  return (
    <article aria-label="Output" className="group relative py-1">
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
        tabIndex={0}
        className="overflow-x-auto rounded-md bg-sunken px-3 py-2 font-mono text-xs leading-5 pointer-coarse:pr-12"
      >
        <AnsiText text={text.replace(/\n$/, "")} />
      </pre>
      <CopyButton
        text={plain(text)}
        label="Copy output"
        className={cx("absolute top-1.5 right-1 bg-sunken", ACTIONS, "focus-visible:opacity-100")}
      />
    </article>
  );
}

export function SystemLine({ text }: { text: string }) {
  return (
    <p className="whitespace-pre-wrap break-words py-0.5 font-mono text-faint text-xs leading-5">
      <AnsiText text={text} />
    </p>
  );
}

export function Thinking({ id, text }: { id: string; text: string }) {
  const [isOpen, toggle] = useOpened(id);
  const first = firstLine(text);
  const hasMore = first !== text.trim() || first.length > 80;
  return (
    <div className="text-muted text-sm">
      <button
        type="button"
        aria-expanded={hasMore ? isOpen : undefined}
        disabled={!hasMore}
        onClick={toggle}
        className="flex min-h-7 w-full items-center gap-2 rounded-sm text-left hover:text-ink disabled:cursor-default"
      >
        <Brain className="size-3.5 shrink-0 text-faint" aria-hidden />
        <span className="sr-only">Thought: </span>
        <span className="min-w-0 truncate italic">{isOpen ? "Thought" : first}</span>
        {hasMore && <Chevron isOpen={isOpen} />}
      </button>
      {isOpen && <Markdown text={text} className="mb-1 ml-1.5 border-line border-l pl-4 text-sm" />}
    </div>
  );
}

export function Chevron({ isOpen }: { isOpen: boolean }) {
  return (
    <ChevronRight
      className={cx("size-3.5 shrink-0 text-faint transition-transform", isOpen && "rotate-90")}
      aria-hidden
    />
  );
}

export function Feedback({ tool, text }: { tool: string; text: string }) {
  return (
    <div className="flex items-start gap-2 py-1 text-sm">
      <UserRound className="mt-0.5 size-4 shrink-0 text-warn" aria-hidden />
      <p className="min-w-0 break-words">
        <span className="text-muted">You denied {tool}. </span>
        {text}
      </p>
    </div>
  );
}

interface ErrorProps {
  entry: NormalizedEntry;
  type: ErrorEntry;
  processId: string;
  actions: SetUpActions;
  /** It is what a program wrote, not what an agent says. */
  isOutput: boolean;
}

export function ErrorMessage({ entry, type, processId, actions, isOutput }: ErrorProps) {
  const needsSetup = type.error_type.type === "setup_required";
  const text = colouredText(entry);
  return (
    <div role="note" className="my-1 flex items-start gap-2 rounded-md bg-bad-soft px-3 py-2 text-sm">
      <CircleAlert className="mt-0.5 size-4 shrink-0 text-bad" aria-hidden />
      <div className="min-w-0 flex-1">
        <span className="sr-only">Error: </span>
        <p
          className={cx(
            "max-h-60 overflow-y-auto whitespace-pre-wrap break-words",
            isOutput && "font-mono text-xs leading-5",
          )}
        >
          <AnsiText text={text.trimEnd()} />
        </p>
        {needsSetup && <SetUpBox processId={processId} actions={actions} />}
      </div>
      <CopyButton text={entry.content} label="Copy error" className="-my-1 -mr-2" />
    </div>
  );
}
