// A question of an agent where it was asked: what it wants to do, how long there is, and the two answers.

import type { PendingApprovalStatus, ToolUseEntry } from "@forge/client";
import { CircleHelp } from "lucide-react";
import { useNow } from "../../ui/clock";
import { duration } from "../../ui/format";
import { Answer } from "./answer";
import { ToolBody } from "./tool-body";
import { hasMore, wordsOf } from "./words";

interface Props {
  id: string;
  use: ToolUseEntry;
  question: PendingApprovalStatus;
}

export function ApprovalCard({ id, use, question }: Props) {
  const { verb, object, isCode } = wordsOf(use, "asks");
  return (
    <section
      aria-label={`${use.tool_name} waits for your answer`}
      className="my-2 rounded-md border border-warn bg-surface p-3 shadow-card"
    >
      <div className="flex items-center gap-2 text-sm">
        <CircleHelp className="size-4 shrink-0 text-warn" aria-hidden />
        <span className="font-medium">Allow {use.tool_name}?</span>
        <TimeLeft until={question.timeout_at} />
      </div>
      <p className="mt-1 mb-2 min-w-0 break-words text-sm">
        <span className="text-muted">{verb}</span>{" "}
        <span className={isCode ? "font-mono text-xs" : undefined}>{object}</span>
      </p>
      {hasMore(use.action_type) && <ToolBody id={id} action={use.action_type} />}
      <Answer approvalId={question.approval_id} />
    </section>
  );
}

/** Says nothing while there is plenty of time. */
export function TimeLeft({ until }: { until: string }) {
  const left = Date.parse(until) - useNow();
  if (!(left < 24 * 3600_000)) return null;
  return <span className="ml-auto shrink-0 text-faint text-xs tabular">{duration(left)} left</span>;
}
