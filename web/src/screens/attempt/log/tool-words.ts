// What an agent did with a tool, as a verb and an object.

import type { ActionType, FileChange, ToolUseEntry } from "@forge/client";
import { diffCounts } from "./diff-lines";

export type Picture = "command" | "edit" | "read" | "search" | "fetch" | "tool" | "task" | "plan" | "todo" | "other";

export interface Words {
  picture: Picture;
  verb: string;
  object: string;
  /** The object is code: a path, a command, a query. */
  isCode: boolean;
  added?: number;
  removed?: number;
}

/** How a tool call stands. */
export type Outcome = "working" | "ok" | "failed" | "denied" | "timed-out" | "asks" | "cut-off";

/** A call whose agent is gone will never end. */
export function outcomeOf({ status, action_type }: ToolUseEntry, isAlive: boolean): Outcome {
  switch (status.status) {
    case "created":
      return isAlive ? "working" : "cut-off";
    case "success": {
      const exit = action_type.action === "command_run" ? action_type.result?.exit_status : undefined;
      return exit?.type === "exit_code" && exit.code !== 0 ? "failed" : "ok";
    }
    case "failed":
      return "failed";
    case "denied":
      return "denied";
    case "timed_out":
      return "timed-out";
    case "pending_approval":
      return isAlive ? "asks" : "cut-off";
  }
}

export function wordsOf({ action_type: action, tool_name }: ToolUseEntry, outcome: Outcome): Words {
  const done = outcome === "ok" || outcome === "failed" || outcome === "timed-out";
  const verb = (past: string, present: string, wish: string): string => {
    if (done) return past;
    return outcome === "working" ? present : wish;
  };
  const code = (picture: Picture, word: string, object: string): Words => ({
    picture,
    verb: word,
    object: firstLine(object),
    isCode: true,
  });
  switch (action.action) {
    case "command_run":
      return code("command", verb("Ran", "Running", "Run"), action.command);
    case "file_edit":
      return editWords(action.path, action.changes, verb);
    case "file_read":
      return code("read", verb("Read", "Reading", "Read"), action.path);
    case "search":
      return code("search", verb("Searched", "Searching", "Search"), action.query);
    case "web_fetch":
      return code("fetch", verb("Fetched", "Fetching", "Fetch"), action.url);
    case "tool":
      return code("tool", verb("Used", "Using", "Use"), action.tool_name || tool_name);
    case "task_create":
      return {
        picture: "task",
        verb: verb("Delegated", "Delegating", "Delegate"),
        object: firstLine(action.description),
        isCode: false,
      };
    case "plan_presentation":
      return { picture: "plan", verb: "Plan", object: firstLine(action.plan).replace(/^#+\s*/, ""), isCode: false };
    case "todo_management":
      return {
        picture: "todo",
        verb: action.operation === "read" ? "Checked to-dos" : "Updated to-dos",
        object: progress(action.todos),
        isCode: false,
      };
    case "other":
      return { picture: "other", verb: firstLine(action.description) || tool_name, object: "", isCode: false };
  }
}

function editWords(
  path: string,
  changes: readonly FileChange[],
  verb: (past: string, present: string, wish: string) => string,
): Words {
  const [first] = changes;
  const base = { picture: "edit", object: path, isCode: true } as const;
  if (first?.action === "delete") return { ...base, verb: verb("Deleted", "Deleting", "Delete") };
  if (first?.action === "rename") {
    return { ...base, object: `${path} → ${first.new_path}`, verb: verb("Renamed", "Renaming", "Rename") };
  }
  const counts = { added: 0, removed: 0 };
  for (const change of changes) {
    if (change.action === "write") counts.added += linesIn(change.content);
    if (change.action !== "edit") continue;
    const { added, removed } = diffCounts(change.unified_diff);
    counts.added += added;
    counts.removed += removed;
  }
  const word = first?.action === "write" ? verb("Wrote", "Writing", "Write") : verb("Edited", "Editing", "Edit");
  return { ...base, verb: word, ...counts };
}

export function progress(todos: readonly { status: string }[]): string {
  return todos.length === 0 ? "" : `${todos.filter(isDone).length}/${todos.length}`;
}

export const isDone = ({ status }: { status: string }): boolean => status === "completed" || status === "done";
export const isBegun = ({ status }: { status: string }): boolean => /^in.?progress$/.test(status);

const linesIn = (text: string): number => (text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0));
export const firstLine = (text: string): string => text.trimStart().split("\n", 1)[0]?.trim() ?? "";

/** What there is to see when the line is opened. */
export function hasMore(action: ActionType): boolean {
  switch (action.action) {
    case "command_run":
      return Boolean(action.result?.output) || action.command.includes("\n");
    case "file_edit":
      return action.changes.some((change) => change.action === "write" || change.action === "edit");
    case "tool":
      return action.arguments !== null || action.result !== null;
    case "plan_presentation":
    case "todo_management":
      return true;
    case "task_create":
      return action.description.length > 60 || action.description.includes("\n");
    default:
      return false;
  }
}
