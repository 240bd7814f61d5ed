// The questions of this attempt that wait, always in sight above the message box.

import type { PendingApproval } from "@forge/client";
import { Bell, CircleHelp } from "lucide-react";
import { useState } from "react";
import { bind } from "../../../shell/action";
import { useCommands } from "../../../shell/commands";
import { Button } from "../../../ui/button";
import { useNow } from "../../../ui/clock";
import { duration } from "../../../ui/format";
import { LOG } from "../actions";
import { Answer, useAnswer } from "./answer";

interface Props {
  waiting: readonly PendingApproval[];
  onShow: (approvalId: string) => void;
}

export function ApprovalBar({ waiting, onShow }: Props) {
  const [first] = waiting;
  return (
    <div aria-live="polite">
      {first && <Question key={first.id} question={first} more={waiting.length - 1} onShow={onShow} />}
    </div>
  );
}

function Question({ question, more, onShow }: { question: PendingApproval; more: number; onShow: Props["onShow"] }) {
  const [isDenying, setDenying] = useState(false);
  const answer = useAnswer(question.id);
  useCommands([
    bind(LOG.allow, () => answer.isIdle && answer.mutate({ isAllowed: true })),
    bind(LOG.deny, () => setDenying(true)),
  ]);
  return (
    <section
      aria-label="The agent waits for your answer"
      className="mb-2 flex flex-col gap-2 rounded-md border border-warn bg-warn-soft px-3 py-2"
    >
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <button
          type="button"
          onClick={() => onShow(question.id)}
          title="Show it in the transcript"
          className="flex min-h-7 min-w-0 basis-full flex-col justify-center gap-1 rounded-sm text-left text-sm sm:flex-1 sm:basis-40"
        >
          <span className="flex w-full items-center gap-2">
            <CircleHelp className="size-4 shrink-0 text-warn" aria-hidden />
            <span className="min-w-0 truncate font-medium">Allow {question.tool_name}?</span>
            {more > 0 && <span className="shrink-0 text-faint text-xs">and {more} more</span>}
            <TimeLeft until={question.timeout_at} />
          </span>
          <span className="line-clamp-3 whitespace-pre-wrap font-mono text-muted text-xs [overflow-wrap:anywhere]">
            {inputText(question.tool_input)}
          </span>
        </button>
        {!isDenying && <Answer approvalId={question.id} answer={answer} isDenying={false} onDenying={setDenying} />}
      </div>
      {isDenying && <Answer approvalId={question.id} answer={answer} isDenying onDenying={setDenying} />}
      <AskToNotify />
    </section>
  );
}

/** Says nothing while there is plenty of time. */
function TimeLeft({ until }: { until: string }) {
  const left = Date.parse(until) - useNow();
  if (!(left < 24 * 3600_000)) return null;
  return <span className="ml-auto shrink-0 text-faint text-xs tabular">{duration(left)} left</span>;
}

/** The part of a tool's input that says most. */
function inputText(input: unknown): string {
  if (typeof input !== "object" || input === null) return input === undefined ? "" : String(input);
  const known: Record<string, unknown> = { ...input };
  for (const key of ["command", "file_path", "path", "url", "query", "pattern", "plan"]) {
    const value = known[key];
    if (typeof value === "string") return value.trim();
  }
  return JSON.stringify(input);
}

/** Offered once, where it is plain what for. */
function AskToNotify() {
  const [isAsked, setAsked] = useState(
    () => typeof Notification === "undefined" || Notification.permission !== "default",
  );
  if (isAsked) return null;
  const ask = async (): Promise<void> => {
    await Notification.requestPermission();
    setAsked(true);
  };
  return (
    <div>
      <Button weight="ghost" size="sm" icon={<Bell className="size-3.5" aria-hidden />} onClick={ask}>
        Turn on notifications
      </Button>
    </div>
  );
}
