//! What each route takes and gives, in the words of `schema`.
//!
//! Invariant: every route that takes a body stands here, under the path that the route table has (a test checks it).
//! A body is the name of a schema, with `?` when it may be missing, `multipart` or `text`; an answer is a type, with `~`
//! when it may come without the envelope, or `@` and a media type.

use crate::table::Route;

/// Route, body, data of the answer.
type Row = (&'static str, &'static str, &'static str);

pub(crate) struct Shape {
    pub(crate) status: &'static str,
    pub(crate) body: &'static str,
    pub(crate) data: &'static str,
}

pub(crate) fn of(route: &Route) -> Shape {
    use crate::table::RouteKind;
    let name = format!("{} {}", route.method, route.path);
    let row = ROWS.iter().find(|(known, ..)| *known == name);
    let (body, data) = row.map_or(("", "any"), |(_, body, data)| (*body, *data));
    let (status, data) = match (route.kind, data.strip_prefix("202 ")) {
        (RouteKind::WebSocket, _) => ("101", data),
        (_, Some(data)) => ("202", data),
        (_, None) => ("200", data),
    };
    Shape { status, body, data }
}

const ROWS: &[Row] = &[
    ("GET /health", "", "Ready"),
    ("GET /api/health", "", "string"),
    ("GET /api/openapi.json", "", "object"),
    ("GET /api/routes", "", "RouteList"),
    ("POST /mcp", "object", "any"),
    ("GET /site.webmanifest", "", "@application/manifest+json"),
    ("GET /plain.css", "", "@text/css"),
    ("GET /api/projects", "", "Project[]"),
    ("POST /api/projects", "CreateProject", "Project"),
    ("GET /api/projects/{project_id}", "", "Project"),
    ("PUT /api/projects/{project_id}", "UpdateProject", "Project"),
    ("DELETE /api/projects/{project_id}", "", "null"),
    ("GET /api/projects/{project_id}/branches", "", "GitBranch[]"),
    ("GET /api/projects/{project_id}/cards", "", "TaskCard[]"),
    ("POST /api/projects/{project_id}/open-editor", "OpenEditor?", "EditorUrl"),
    ("GET /api/projects/{project_id}/search", "", "SearchResult[]"),
    ("GET /api/tasks", "", "TaskWithAttemptStatus[]"),
    ("POST /api/tasks", "CreateTask", "Task"),
    ("POST /api/tasks/create-and-start", "CreateAndStartTask", "StartedTask"),
    ("GET /api/tasks/{task_id}", "", "Task"),
    ("PUT /api/tasks/{task_id}", "UpdateTask", "Task"),
    ("DELETE /api/tasks/{task_id}", "", "202 null"),
    ("POST /api/tasks/{task_id}/attempts/start", "StartAttempt", "TaskAttempt"),
    ("GET /api/projects/{project_id}/tasks", "", "TaskWithLatestAttempt[]"),
    ("POST /api/projects/{project_id}/tasks", "CreateTaskHere", "Task"),
    ("POST /api/projects/{project_id}/tasks/create-and-start", "CreateAndStartTaskHere", "StartedTask"),
    ("GET /api/projects/{project_id}/tasks/{task_id}", "", "Task"),
    ("PUT /api/projects/{project_id}/tasks/{task_id}", "UpdateTask", "Task"),
    ("DELETE /api/projects/{project_id}/tasks/{task_id}", "", "202 null"),
    ("GET /api/task-attempts", "", "ListedAttempt[]"),
    ("POST /api/task-attempts", "CreateTaskAttempt", "TaskAttempt"),
    ("GET /api/task-attempts/{attempt_id}", "", "TaskAttemptDetail"),
    ("POST /api/task-attempts/{attempt_id}/follow-up", "FollowUp", "ExecutionProcess"),
    ("POST /api/task-attempts/{attempt_id}/replace-process", "ReplaceProcess", "ReplaceProcessResult"),
    ("POST /api/task-attempts/{attempt_id}/run-agent-setup", "SetUpAgent", "object"),
    ("PUT /api/task-attempts/{attempt_id}/budget", "SetBudget", "TaskAttempt"),
    ("GET /api/task-attempts/{attempt_id}/draft", "", "DraftResponse"),
    ("PUT /api/task-attempts/{attempt_id}/draft", "SaveDraft", "DraftResponse"),
    ("POST /api/task-attempts/{attempt_id}/draft", "SaveDraft", "DraftResponse"),
    ("DELETE /api/task-attempts/{attempt_id}/draft", "", "null"),
    ("POST /api/task-attempts/{attempt_id}/draft/queue", "QueueDraft", "DraftResponse"),
    ("POST /api/task-attempts/{attempt_id}/stop", "any?", "null"),
    ("GET /api/task-attempts/{attempt_id}/branch-status", "", "BranchStatus"),
    ("POST /api/task-attempts/{attempt_id}/merge", "any?", "null"),
    ("POST /api/task-attempts/{attempt_id}/push", "any?", "null"),
    ("POST /api/task-attempts/{attempt_id}/rebase", "RebaseAttempt?", "null"),
    ("POST /api/task-attempts/{attempt_id}/conflicts/abort", "any?", "null"),
    ("POST /api/task-attempts/{attempt_id}/conflicts/resolve", "any?", "ExecutionProcess"),
    ("POST /api/task-attempts/{attempt_id}/pr", "CreatePullRequest", "string"),
    ("POST /api/task-attempts/{attempt_id}/pr/attach", "AttachPullRequest?", "AttachedPullRequest"),
    (
        "POST /api/task-attempts/{attempt_id}/change-target-branch",
        "ChangeTargetBranch",
        "TargetBranchChanged",
    ),
    ("POST /api/task-attempts/{attempt_id}/delete-file", "any?", "null"),
    ("GET /api/task-attempts/{attempt_id}/commit-info", "", "CommitInfo"),
    ("GET /api/task-attempts/{attempt_id}/commit-compare", "", "CommitComparison"),
    ("GET /api/task-attempts/{attempt_id}/children", "", "TaskRelationships"),
    ("POST /api/task-attempts/{attempt_id}/open-editor", "OpenEditor?", "EditorUrl"),
    ("POST /api/task-attempts/{attempt_id}/start-dev-server", "any?", "null"),
    ("GET /api/execution-processes", "", "ExecutionProcess[]"),
    ("GET /api/execution-processes/{process_id}", "", "ExecutionProcess"),
    ("POST /api/execution-processes/{process_id}/stop", "any?", "null"),
    ("GET /api/execution-runs", "", "ExecutionRun[]"),
    ("POST /api/execution-runs", "CreateExecutionRun", "StartedExecutionRun"),
    ("GET /api/execution-runs/{run_id}", "", "ExecutionRun"),
    ("POST /api/execution-runs/{run_id}/follow-up", "FollowUpRun", "ExecutionProcess"),
    ("POST /api/execution-runs/{run_id}/stop", "any?", "null"),
    ("GET /api/execution-runs/{run_id}/processes", "", "ExecutionProcess[]"),
    ("POST /api/images/upload", "multipart", "Image"),
    ("POST /api/images/task/{task_id}/upload", "multipart", "Image"),
    ("GET /api/images/task/{task_id}", "", "Image[]"),
    ("GET /api/images/{image_id}/file", "", "@image/*"),
    ("DELETE /api/images/{image_id}", "", "null"),
    ("GET /api/tags", "", "Tag[]"),
    ("POST /api/tags", "CreateTag", "Tag"),
    ("GET /api/tags/{tag_id}", "", "Tag"),
    ("PUT /api/tags/{tag_id}", "UpdateTag", "Tag"),
    ("DELETE /api/tags/{tag_id}", "", "null"),
    ("GET /api/templates", "", "TaskTemplate[]"),
    ("POST /api/templates", "CreateTaskTemplate", "TaskTemplate"),
    ("GET /api/templates/{template_id}", "", "TaskTemplate"),
    ("PUT /api/templates/{template_id}", "UpdateTaskTemplate", "TaskTemplate"),
    ("DELETE /api/templates/{template_id}", "", "null"),
    ("GET /api/filesystem/directory", "", "DirectoryListing"),
    ("GET /api/filesystem/git-repos", "", "DirectoryEntry[]"),
    ("GET /api/containers/info", "", "ContainerInfo"),
    ("POST /api/approvals/create", "CreateApproval", "Approval"),
    ("GET /api/approvals/pending", "", "PendingApproval[]"),
    ("GET /api/approvals/{approval_id}/status", "", "ApprovalStatus"),
    ("POST /api/approvals/{approval_id}/respond", "RespondToApproval", "~ApprovalStatus"),
    ("GET /api/projects/{project_id}/conflicts", "", "ConflictReport"),
    ("POST /api/projects/{project_id}/tasks/from-issue", "TaskFromIssue", "TaskOfIssue"),
    ("POST /api/auth/github/device/start", "any?", "DeviceStart"),
    ("POST /api/auth/github/device/poll", "any?", "LoginAnswer"),
    ("GET /api/auth/github/check", "", "LoginCheck"),
    ("GET /api/info", "", "SystemInfo"),
    ("GET /api/config", "", "Config"),
    ("PUT /api/config", "object", "Config"),
    ("GET /api/mcp-config", "", "McpAnswer"),
    ("POST /api/mcp-config", "object", "string"),
    ("GET /api/sounds/{sound}", "", "@audio/wav"),
    ("GET /api/agents", "", "FoundAgent[]"),
    ("GET /api/profiles", "", "ProfilesFile"),
    ("PUT /api/profiles", "text", "string"),
    ("GET /api/forge/auth-required", "", "AuthRequired"),
    ("GET /api/forge/config", "", "ForgeSettings"),
    ("PUT /api/forge/config", "ForgeSettingsChange", "ForgeSettings"),
    ("GET /api/forge/projects/{project_id}/settings", "", "ForgeSettings"),
    ("PUT /api/forge/projects/{project_id}/settings", "ForgeSettingsChange", "ForgeSettings"),
    ("GET /api/forge/projects/{project_id}/profiles", "", "object"),
    ("GET /api/forge/projects/{project_id}/branch-status", "", "BranchStatus"),
    ("POST /api/forge/projects/{project_id}/pull", "any?", "Pulled"),
    ("GET /api/forge/omni/status", "", "OmniStatus"),
    ("GET /api/forge/omni/instances", "", "OmniInstances"),
    ("POST /api/forge/omni/validate", "OmniProbe", "OmniProbed"),
    ("GET /api/forge/omni/notifications", "", "Notifications"),
    ("GET /api/forge/releases", "", "Release[]"),
    ("GET /api/forge/agents", "", "ForgeAgent[]"),
    ("POST /api/forge/agents", "CreateAgent", "ForgeAgent"),
    ("GET /api/forge/master-genie/{attempt_id}/neurons", "", "Neuron[]"),
    ("GET /api/forge/neurons/{attempt_id}/subtasks", "", "Task[]"),
    ("GET /api/beads", "", "Bead[]"),
    ("POST /api/beads", "CreateBead", "Bead"),
    ("GET /api/beads/{bead_id}", "", "Bead"),
    ("PUT /api/beads/{bead_id}", "UpdateBead", "Bead"),
    ("POST /api/beads/{bead_id}/claim", "ClaimBead?", "Bead"),
    ("POST /api/beads/{bead_id}/release", "ReleaseBead?", "Bead"),
    ("POST /api/beads/{bead_id}/close", "CloseBead", "Bead"),
    ("POST /api/beads/{bead_id}/dep", "LinkBead", "BeadLink"),
    ("POST /api/beads/{bead_id}/comment", "CommentBead", "Bead"),
    ("GET /api/routing", "", "Routing[]"),
    ("GET /api/routing/explain", "", "Routing[]"),
    ("GET /api/projects/{project_id}/dispatch", "", "DispatchRule"),
    ("PUT /api/projects/{project_id}/dispatch", "DispatchChange", "DispatchRule"),
    ("POST /api/dispatch", "DispatchRequest", "DispatchReport"),
    ("POST /api/import", "ImportRequest", "ImportReport"),
    ("GET /api/usage", "", "UsageReport"),
    ("GET /api/usage/workers", "", "WorkerEfficiency[]"),
    ("GET /api/usage/models", "", "ModelPerformance[]"),
    ("GET /api/workers", "", "ListedWorker[]"),
    ("POST /api/workers", "SpawnWorker", "Worker"),
    ("GET /api/workers/{worker_id}", "", "ListedWorker"),
    ("DELETE /api/workers/{worker_id}", "", "null"),
    ("POST /api/workers/{worker_id}/stop", "StopWorker?", "Worker"),
    ("POST /api/workers/{worker_id}/kill", "any?", "Worker"),
    ("POST /api/workers/{worker_id}/restart", "any?", "Worker"),
    ("POST /api/workers/{worker_id}/pause", "PauseWorker?", "Worker"),
    ("POST /api/workers/{worker_id}/resume", "any?", "Worker"),
    ("POST /api/workers/{worker_id}/send", "SendToWorker", "null"),
    ("POST /api/workers/{worker_id}/interrupt", "any?", "null"),
    ("POST /api/workers/{worker_id}/adopt", "any?", "Worker"),
    ("POST /api/workers/{worker_id}/reassign", "ReassignWorker", "Worker"),
    ("GET /api/workers/{worker_id}/peek", "", "WorkerPane"),
    ("GET /api/health/workers", "", "WorkersHealth"),
    ("GET /api/launchers", "", "LauncherFile[]"),
    ("GET /api/worker-definitions", "", "WorkerDefinitions"),
    ("GET /api/alerts", "", "Alert[]"),
    ("POST /api/alerts/ack-all", "any?", "Alert[]"),
    ("POST /api/alerts/{alert_id}/ack", "any?", "Alert"),
    ("GET /api/worktrees", "", "WorktreeReport"),
    ("POST /api/worktrees/gc", "GarbageRequest?", "GarbageReport"),
    ("POST /api/worktrees/{attempt_id}/retire", "any?", "KeptWorktree"),
    ("POST /api/worktrees/{attempt_id}/restore", "any?", "RestoredWorktree"),
    ("GET /api/tasks/stream/ws", "", "StreamFrame"),
    ("GET /api/tasks/stream", "", "FramePage"),
    ("GET /api/execution-processes/stream", "", "FramePage"),
    ("GET /api/task-attempts/{attempt_id}/diff", "", "AttemptDiff"),
    ("GET /api/execution-processes/{process_id}/raw-logs", "", "FramePage"),
    ("GET /api/execution-processes/{process_id}/normalized-logs", "", "FramePage"),
    ("GET /api/projects/{project_id}/tasks/stream/ws", "", "StreamFrame"),
    ("GET /api/task-attempts/{attempt_id}/diff/ws", "", "StreamFrame"),
    ("GET /api/execution-processes/stream/ws", "", "StreamFrame"),
    ("GET /api/execution-processes/{process_id}/raw-logs/ws", "", "StreamFrame"),
    ("GET /api/execution-processes/{process_id}/normalized-logs/ws", "", "StreamFrame"),
    ("GET /api/execution-runs/{run_id}/logs/ws", "", "OutputFrame"),
    ("GET /api/drafts/stream/ws", "", "StreamFrame"),
    ("GET /api/events/ws", "", "EventFrame"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::routes;

    #[test]
    fn every_route_that_takes_a_body_says_which_and_no_row_is_for_nothing() {
        let served: Vec<String> =
            routes().iter().map(|route| format!("{} {}", route.method, route.path)).collect();
        for name in served.iter().filter(|name| name.starts_with('P')) {
            assert!(ROWS.iter().any(|(known, ..)| known == name), "{name} has no row in shape.rs");
        }
        for (name, ..) in ROWS {
            assert!(served.iter().any(|known| known == name), "{name} is not served");
        }
    }
}
