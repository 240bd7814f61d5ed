// A process for tests, finished unless something else is given.

import type { ExecutionProcess } from "@forge/client";

export function sampleProcess(given: Partial<ExecutionProcess> = {}): ExecutionProcess {
  const id = given.id ?? "p";
  return {
    id,
    task_attempt_id: "a",
    execution_run_id: null,
    run_reason: "codingagent",
    executor_action: {
      typ: { type: "CodingAgentInitialRequest", prompt: `ask ${id}`, executor_profile_id: { executor: "SCRIPTED" } },
      next_action: null,
    },
    before_head_commit: null,
    after_head_commit: null,
    status: "completed",
    exit_code: 0,
    dropped: false,
    started_at: "2026-01-01T11:00:00Z",
    completed_at: "2026-01-01T11:00:42Z",
    created_at: "2026-01-01T11:00:00Z",
    updated_at: "2026-01-01T11:00:42Z",
    output: null,
    ...given,
  };
}
