// The actions of an attempt, and of its views.

import { actionsAt } from "../../shell/action";

export const ATTEMPT = actionsAt("attempt", "Attempt", {
  back: { label: "Back to the board", keys: "escape" },
  log: { label: "Log", keys: "1" },
  raw: { label: "Raw", keys: "2" },
  diffs: { label: "Changes", keys: "3" },
  processes: { label: "Processes", keys: "4" },
  new: { label: "Start an attempt" },
  stop: { label: "Stop the agent" },
  editor: { label: "Open in editor", keys: "e" },
  copyPath: { label: "Copy worktree path" },
  copyCd: { label: "Copy cd command" },
  copyView: { label: "Copy forge view command" },
  startServer: { label: "Start the dev server" },
  stopServer: { label: "Stop the dev server" },
  budget: { label: "Set a budget…" },
  retire: { label: "Retire…", words: "archive worktree" },
  restore: { label: "Restore", words: "worktree" },
  details: { label: "Task details" },
});

export const LOG = actionsAt("attempt/log", "Attempt", {
  newest: { label: "Jump to latest", keys: "j" },
  message: { label: "Write to the agent", keys: "m" },
  allow: { label: "Allow what the agent asks", keys: "a" },
  deny: { label: "Deny what the agent asks", keys: "d" },
});

export const RAW = actionsAt("attempt/raw", "Log", {
  search: { label: "Search in the log", keys: "mod+f" },
  wrap: { label: "Wrap long lines", keys: "w" },
});

export const REVIEW = actionsAt("attempt/review", "Review", {
  next: { label: "Next file", keys: "j" },
  previous: { label: "Previous file", keys: "k" },
  viewed: { label: "Mark the file as viewed", keys: "v" },
  comment: { label: "Comment on the line", keys: "c" },
  view: { label: "Switch between unified and split", keys: "s" },
  merge: { label: "Merge the attempt" },
  rebase: { label: "Rebase the attempt" },
  push: { label: "Push the branch" },
  pull: { label: "Create a pull request" },
});
