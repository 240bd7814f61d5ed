// What a use of a tool shows when it is opened: output, a small diff, arguments, a plan, a list.

import type { ActionType, FileChange } from "@forge/client";
import { CircleCheck, CircleDashed, CircleDot } from "lucide-react";
import { useMemo } from "react";
import { cx } from "../../../ui/class";
import { CopyButton } from "../../../ui/copy";
import { Markdown } from "../../../ui/markdown";
import { AnsiText } from "../ansi-text";
import { type DiffLine, diffLines, writtenLines } from "./diff-lines";
import { useOpened } from "./opened";
import { isBegun, isDone } from "./tool-words";

/** Longer things are cut until they are asked for: a row of many thousand lines would make the list slow. */
const MOST_LINES = 200;

export function ToolBody({ id, action }: { id: string; action: ActionType }) {
  return (
    <div className="mt-0.5 mb-2 ml-1.5 flex flex-col gap-2 border-line border-l pl-4">
      <Content id={id} action={action} />
    </div>
  );
}

function Content({ id, action }: { id: string; action: ActionType }) {
  switch (action.action) {
    case "command_run":
      return (
        <>
          {action.command.includes("\n") && <Output id={`${id}:command`} text={action.command} label="Command" />}
          {action.result?.output && <Output id={`${id}:output`} text={action.result.output} label="Output" />}
        </>
      );
    case "file_edit":
      return action.changes.map((change, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the changes of an entry never move
        <Change key={at} id={`${id}:${at}`} change={change} />
      ));
    case "tool":
      return (
        <>
          {action.arguments !== null && <Output id={`${id}:in`} text={pretty(action.arguments)} label="Arguments" />}
          {action.result?.type.type === "markdown" && <Markdown text={String(action.result.value)} />}
          {action.result?.type.type === "json" && (
            <Output id={`${id}:out`} text={pretty(action.result.value)} label="Result" />
          )}
        </>
      );
    case "plan_presentation":
      return <Markdown text={action.plan} className="text-base" />;
    case "task_create":
      return <Markdown text={action.description} className="text-sm" />;
    case "todo_management":
      return <TodoItems items={action.todos} />;
    default:
      return null;
  }
}

const pretty = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

export function Output({ id, text, label }: { id: string; text: string; label: string }) {
  const [isOpen, toggle] = useOpened(`${id}:all`);
  const lines = useMemo(() => text.replace(/\n+$/, "").split("\n"), [text]);
  const shown = isOpen ? lines : lines.slice(0, MOST_LINES);
  return (
    <figure className="group relative min-w-0 rounded-md bg-sunken">
      <figcaption className="sr-only">{label}</figcaption>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
        tabIndex={0}
        className="max-h-96 overflow-auto px-3 py-2 font-mono text-xs leading-5"
      >
        <AnsiText text={shown.join("\n")} />
      </pre>
      {lines.length > shown.length && (
        <button type="button" onClick={toggle} className="min-h-8 px-3 text-faint text-xs hover:text-ink">
          Show all {lines.length.toLocaleString("en-US")} lines
        </button>
      )}
      <CopyButton
        text={text}
        label={`Copy ${label.toLowerCase()}`}
        className="absolute top-1 right-1 bg-sunken opacity-0 focus-visible:opacity-100 group-hover:opacity-100 pointer-coarse:opacity-100"
      />
    </figure>
  );
}

function Change({ id, change }: { id: string; change: FileChange }) {
  const lines = useMemo(() => {
    if (change.action === "edit") return diffLines(change.unified_diff, change.has_line_numbers);
    return change.action === "write" ? writtenLines(change.content) : [];
  }, [change]);
  return lines.length === 0 ? null : <SmallDiff id={id} lines={lines} />;
}

const KIND: Record<DiffLine["kind"], { sign: string; className: string }> = {
  same: { sign: " ", className: "" },
  added: { sign: "+", className: "bg-good-soft" },
  removed: { sign: "−", className: "bg-bad-soft" },
  gap: { sign: "", className: "bg-hover text-faint" },
};

function SmallDiff({ id, lines }: { id: string; lines: readonly DiffLine[] }) {
  const [isOpen, toggle] = useOpened(`${id}:all`);
  const shown = isOpen ? lines : lines.slice(0, MOST_LINES);
  return (
    <div className="min-w-0 overflow-hidden rounded-md border border-line bg-surface">
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
        tabIndex={0}
        className="max-h-96 overflow-auto py-1 font-mono text-xs leading-5"
      >
        <code className="block w-max min-w-full">
          {shown.map(({ kind, text, number }, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a diff never move
            <span key={at} className={cx("flex pr-3", KIND[kind].className)}>
              {number !== undefined && (
                <span className="w-10 shrink-0 select-none pr-2 text-right text-faint" aria-hidden>
                  {number}
                </span>
              )}
              <span className={cx("w-5 shrink-0 select-none text-center", kind === "added" ? "text-good" : "text-bad")}>
                {KIND[kind].sign}
              </span>
              <span className="whitespace-pre">{kind === "gap" ? `⋯ ${text}` : text || " "}</span>
            </span>
          ))}
        </code>
      </pre>
      {lines.length > shown.length && (
        <button type="button" onClick={toggle} className="min-h-8 px-3 text-faint text-xs hover:text-ink">
          Show all {lines.length.toLocaleString("en-US")} lines
        </button>
      )}
    </div>
  );
}

export function TodoItems({ items }: { items: readonly { content: string; status: string }[] }) {
  return (
    <ul className="flex flex-col gap-1 text-sm">
      {items.map((item, at) => {
        const Icon = isDone(item) ? CircleCheck : isBegun(item) ? CircleDot : CircleDashed;
        const word = isDone(item) ? "Done" : isBegun(item) ? "In progress" : "To do";
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a list comes whole each time
          <li key={at} className="flex items-start gap-2">
            <Icon
              className={cx(
                "mt-0.5 size-4 shrink-0",
                isDone(item) ? "text-good" : isBegun(item) ? "text-accent" : "text-faint",
              )}
              aria-hidden
            />
            <span className="sr-only">{word}: </span>
            <span className={cx("min-w-0 break-words", isDone(item) && "text-muted line-through")}>{item.content}</span>
          </li>
        );
      })}
    </ul>
  );
}
