// One row of the transcript. Rendered again only when the row itself has changed.

import type { ExecutionProcess, TaskAttempt } from "@forge/client";
import { Link, useParams } from "@tanstack/react-router";
import { LoaderCircle } from "lucide-react";
import { memo, type RefObject } from "react";
import type { EntryRow } from "../../../live/entries";
import { count } from "../../../ui/format";
import { ApprovalCard } from "./approval-card";
import {
  AgentMessage,
  colouredText,
  ErrorMessage,
  Feedback,
  ProgramOutput,
  PromptMessage,
  SystemLine,
  Thinking,
} from "./message";
import { ProcessHead } from "./process-head";
import type { LeftOutRow, Row } from "./rows";
import type { SetUpActions } from "./set-up";
import { ToolLine } from "./tool-line";

export interface RowActions extends SetUpActions {
  onRetry: (process: ExecutionProcess) => void;
}

/** Agents that are programs: what they get is a script, and what they say is output. */
const PROGRAMS: ReadonlySet<string> = new Set(["SHELL"]);
const isProgram = ({ executor_profile_id }: TaskAttempt): boolean => PROGRAMS.has(executor_profile_id.executor);

interface Props {
  row: Row;
  isAlive: boolean;
  /** Always the same object, so that it makes no row new. */
  actions: RefObject<RowActions>;
}

export const RowView = memo(function RowView({ row, isAlive, actions }: Props) {
  switch (row.kind) {
    case "head":
      return <ProcessHead process={row.process} />;
    case "prompt":
      return (
        <PromptMessage
          id={row.key}
          text={row.text}
          isScript={isProgram(actions.current.attempt)}
          onRetry={() => actions.current.onRetry(row.process)}
        />
      );
    case "left-out":
      return <LeftOut row={row} />;
    case "working":
      return (
        <p className="flex min-h-8 items-center gap-2 text-muted text-sm">
          <LoaderCircle className="size-3.5 animate-spin text-accent" aria-hidden />
          Working…
        </p>
      );
    case "entry":
      return <Entry row={row} isAlive={isAlive} actions={actions} />;
  }
});

function Entry({
  row: { key, entry, processId },
  isAlive,
  actions,
}: { row: EntryRow; isAlive: boolean } & Pick<Props, "actions">) {
  const type = entry.entry_type;
  switch (type.type) {
    case "user_message":
      return <PromptMessage id={key} text={entry.content} />;
    case "assistant_message":
      if (isProgram(actions.current.attempt)) return <ProgramOutput text={colouredText(entry)} />;
      return <AgentMessage text={entry.content} />;
    case "system_message":
      return <SystemLine text={entry.content} />;
    case "thinking":
      return <Thinking id={key} text={entry.content} />;
    case "user_feedback":
      return <Feedback tool={type.denied_tool} text={entry.content} />;
    case "error_message":
      return (
        <ErrorMessage
          entry={entry}
          type={type}
          processId={processId}
          actions={actions.current}
          isOutput={isProgram(actions.current.attempt)}
        />
      );
    case "tool_use":
      if (type.status.status === "pending_approval" && isAlive) {
        return <ApprovalCard id={key} use={type} />;
      }
      return <ToolLine id={key} use={type} isAlive={isAlive} />;
    default:
      return null;
  }
}

function LeftOut({ row }: { row: LeftOutRow }) {
  const params = useParams({ from: "/projects/$projectId/tasks/$taskId/attempts/$attemptId" });
  return (
    <p className="py-2 text-center text-faint text-sm">
      {count(row.count, "earlier entry", "earlier entries")} left out.{" "}
      <Link
        to="/projects/$projectId/tasks/$taskId/attempts/$attemptId"
        params={params}
        search={{ view: "raw", process: row.processId }}
        className="underline underline-offset-2 hover:text-ink"
      >
        The raw log has all of them
      </Link>
    </p>
  );
}
