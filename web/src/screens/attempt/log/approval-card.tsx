// A question of an agent where it was asked: what it wants to do. The bar above the message box takes the answer.

import type { ToolUseEntry } from "@forge/client";
import { CircleHelp } from "lucide-react";
import { ToolBody } from "./tool-body";
import { hasMore, wordsOf } from "./tool-words";

interface Props {
  id: string;
  use: ToolUseEntry;
}

export function ApprovalCard({ id, use }: Props) {
  const { verb, object, isCode } = wordsOf(use, "asks");
  return (
    <section aria-label="Question" className="my-2 rounded-md border border-warn bg-surface p-3 shadow-card">
      <div className="flex items-center gap-2 text-sm">
        <CircleHelp className="size-4 shrink-0 text-warn" aria-hidden />
        <span className="font-medium">{use.tool_name} waits for your answer</span>
      </div>
      <p className="mt-1 min-w-0 break-words text-sm">
        <span className="text-muted">{verb}</span>{" "}
        <span className={isCode ? "font-mono text-xs" : undefined}>{object}</span>
      </p>
      {hasMore(use.action_type) && <ToolBody id={id} action={use.action_type} />}
    </section>
  );
}
