// Tasks and cards for tests.

import type { TaskCard } from "@forge/client";
import type { BoardTask as Task } from "../../live/tasks";

export function aTask(part: Partial<Task> = {}): Task {
  return {
    id: "t1",
    project_id: "p1",
    title: "Round prices",
    status: "todo",
    parent_task_attempt: null,
    dev_server_id: null,
    created_at: "2026-11-16T10:00:00.000Z",
    updated_at: "2026-11-16T10:00:00.000Z",
    has_in_progress_attempt: false,
    has_merged_attempt: false,
    last_attempt_failed: false,
    executor: "",
    attempt_count: 0,
    ...part,
  };
}

export function aCard(part: Partial<TaskCard> = {}): TaskCard {
  return {
    task_id: "t1",
    attempt_id: "a1",
    attempts: 1,
    status: "completed",
    executor: "CLAUDE_CODE",
    variant: null,
    branch: "forge/a1",
    target_branch: "main",
    running_since: null,
    elapsed_ms: 0,
    cost_usd: null,
    files_changed: null,
    additions: null,
    deletions: null,
    waiting_approvals: 0,
    parked_until: null,
    unverified: false,
    commit_error: null,
    worktree_deleted: false,
    queued_draft: false,
    pr: null,
    merged: false,
    ...part,
  };
}
