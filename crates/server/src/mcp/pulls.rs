//! Tools that send an attempt's work to another machine: push, pull requests, and tasks that come from there.
//!
//! Invariant: a refusal by a code host is a failure whose message says what to do.

use axum::http::StatusCode;
use forge_core::Opened;
use forge_types::{AttachPullRequest, AttemptId, CreatePullRequest, Merge, ProjectId, TaskFromIssue};
use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::envelope::Fault;
use crate::mcp::argument::{Id, profile, refuse};
use crate::mcp::attempts::{self, AttemptArgument, with_attempt};
use crate::mcp::tasks;
use crate::mcp::tool::{Call, Outcome, tools};

tools! {
    Publishes push_task_attempt(AttemptArgument)
        "Pushes an attempt's branch to the remote of its repository.";
    Publishes create_pr(PullArguments)
        "Pushes an attempt's branch and opens a pull request for it on the code host.";
    Publishes attach_pr(AttachArguments)
        "Connects an attempt with a pull request that the code host already has for its branch.";
    Reads get_pr_status(AttemptArgument)
        "Lists the pull requests of an attempt, newest first, and whether each is open, merged or closed, as Forge saw it last.";
    Publishes create_task_from_issue(IssueArguments)
        "Makes a task of an issue on the project's code host, comments on the issue, and starts an agent on it if wanted. An issue has one task: another call returns the same task.";
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct PullArguments {
    /// The id of the attempt, from list_task_attempts.
    attempt_id: Id<AttemptId>,
    /// The title; the task's when left out.
    title: Option<String>,
    /// The description of the pull request.
    body: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct AttachArguments {
    /// The id of the attempt, from list_task_attempts.
    attempt_id: Id<AttemptId>,
    /// The number of the pull request; the newest one of the branch when left out.
    pr_number: Option<i64>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct IssueArguments {
    /// The id of the project, from list_projects.
    project_id: Id<ProjectId>,
    /// The number of the issue; give this or its url.
    number: Option<i64>,
    /// The address of the issue; give this or its number.
    url: Option<String>,
    /// Whether an agent starts at once; false when left out.
    start: Option<bool>,
    /// The agent to start: CLAUDE_CODE, CODEX, GEMINI, OPENCODE and so on; the one of the settings when left out.
    executor: Option<String>,
    /// A variant of that agent, such as PLAN.
    variant: Option<String>,
    /// The branch to begin from, and to merge into later; the project's own when left out.
    base_branch: Option<String>,
    /// Whether a pull request is opened when the agent is done; false when left out.
    auto_pr: Option<bool>,
}

async fn push_task_attempt(call: Call, arguments: AttemptArgument) -> Outcome {
    call.forge.push_attempt(arguments.attempt_id.0).await?;
    with_attempt(&call, arguments.attempt_id.0, json!({"pushed": true})).await
}

async fn create_pr(call: Call, arguments: PullArguments) -> Outcome {
    let id = arguments.attempt_id.0;
    let title = match arguments.title.filter(|title| !title.trim().is_empty()) {
        Some(title) => title,
        None => call.forge.task(call.forge.attempt(id).await?.task_id).await?.title,
    };
    let request = CreatePullRequest { title, body: arguments.body, target_branch: None };
    match call.forge.create_pull_request(id, request).await? {
        Opened::Url(pr_url) => with_attempt(&call, id, json!({"pr_url": pr_url})).await,
        Opened::Refused(refusal) => {
            Err(Fault::new(StatusCode::FORBIDDEN, format!("the code host refused: {}", refusal.explain()))
                .code(refusal.code())
                .hint("set a token in the settings or log in with gh"))
        }
    }
}

async fn attach_pr(call: Call, arguments: AttachArguments) -> Outcome {
    let id = arguments.attempt_id.0;
    let request = AttachPullRequest { pr_number: arguments.pr_number };
    let attached = call.forge.attach_pull_request(id, request).await?;
    with_attempt(&call, id, json!(attached)).await
}

async fn get_pr_status(call: Call, arguments: AttemptArgument) -> Outcome {
    let id = arguments.attempt_id.0;
    let merges = call.forge.merges(id).await?;
    let pulls: Vec<Value> = merges.iter().filter_map(show_pull).collect();
    with_attempt(&call, id, json!({"pull_requests": pulls, "count": pulls.len()})).await
}

fn show_pull(merge: &Merge) -> Option<Value> {
    match merge {
        Merge::Pr { pr_info, target_branch_name, .. } => Some(json!({
            "number": pr_info.number,
            "pr_url": pr_info.url,
            "status": pr_info.status,
            "merged_at": pr_info.merged_at,
            "merge_commit": pr_info.merge_commit_sha,
            "target_branch": target_branch_name,
        })),
        Merge::Direct { .. } => None,
    }
}

async fn create_task_from_issue(call: Call, arguments: IssueArguments) -> Outcome {
    let executor = arguments.executor.filter(|executor| !executor.trim().is_empty());
    if let (None, Some(variant)) = (&executor, &arguments.variant) {
        return Err(refuse(format!("variant: '{variant}' needs an executor; give both")));
    }
    let request = TaskFromIssue {
        number: arguments.number,
        url: arguments.url.filter(|url| !url.trim().is_empty()),
        start: arguments.start,
        executor_profile_id: executor.map(|name| profile(&name, arguments.variant)).transpose()?,
        base_branch: arguments.base_branch.filter(|name| !name.trim().is_empty()),
        auto_pr: arguments.auto_pr,
        max_cost_usd: None,
    };
    let made = call.forge.create_task_from_issue(arguments.project_id.0, request).await?;
    let task = &made.task.task;
    let attempt = made.attempt.as_ref();
    Ok(json!({
        "task_id": task.id,
        "project_id": task.project_id,
        "title": task.title,
        "attempt_id": attempt.map(|attempt| attempt.id),
        "branch": attempt.map(|attempt| &attempt.branch),
        "issue": made.issue,
        "warning": made.warning,
        "url": attempt.map_or_else(|| tasks::url(&call.forge, task), |one| attempts::url(&call.forge, one)),
    })
    .into())
}
