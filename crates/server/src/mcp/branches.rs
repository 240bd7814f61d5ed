//! Tools for an attempt's branch: how it stands, rebasing, landing and publishing it.
//!
//! Invariant: a rebase that stops is told as a failure that says how to go on, since the work has not arrived.

use axum::http::StatusCode;
use forge_core::{Opened, RebaseOutcome};
use forge_types::{AttachPullRequest, AttemptId, ChangeTargetBranch, CreatePullRequest, RebaseAttempt};
use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::envelope::Fault;
use crate::mcp::argument::{Id, filled};
use crate::mcp::attempts::{AttemptArgument, url};
use crate::mcp::tool::{Call, Outcome, tools};

tools! {
    Reads get_branch_status(AttemptArgument)
        "Tells how an attempt's branch stands: commits ahead of and behind its target, uncommitted files, conflicts and merges.";
    Replaces rebase_task_attempt(RebaseArguments)
        "Replays an attempt's commits onto the newest state of its target branch, or onto another branch that becomes its target.";
    Adds merge_task_attempt(AttemptArgument)
        "Lands an attempt: its work becomes one commit on its target branch, and its task is done. Refused while an agent runs or on conflict.";
    Publishes push_task_attempt(AttemptArgument)
        "Pushes an attempt's branch to the remote of its repository.";
    Publishes create_pr(PullArguments)
        "Pushes an attempt's branch and opens a pull request for it on the code host.";
    Publishes attach_pr(AttachArguments)
        "Connects an attempt with a pull request that the code host already has for its branch.";
    Replaces change_target_branch(TargetArguments)
        "Sets the branch that an attempt is compared with and merged into. Nothing is rebased.";
    Replaces abort_conflicts(AttemptArgument)
        "Gives up a rebase or merge that stopped with conflicts in an attempt's worktree; the branch is as it was before.";
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct RebaseArguments {
    /// The attempt, as list_task_attempts tells it.
    attempt_id: Id<AttemptId>,
    /// Another branch to replay onto; the target branch when left out.
    base_branch: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct PullArguments {
    /// The attempt, as list_task_attempts tells it.
    attempt_id: Id<AttemptId>,
    /// The title; the task's when left out.
    title: Option<String>,
    /// The description of the pull request.
    body: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct AttachArguments {
    /// The attempt, as list_task_attempts tells it.
    attempt_id: Id<AttemptId>,
    /// The number of the pull request; the newest one of the branch when left out.
    pr_number: Option<i64>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct TargetArguments {
    /// The attempt, as list_task_attempts tells it.
    attempt_id: Id<AttemptId>,
    /// The name of the new target branch.
    target_branch: String,
}

async fn get_branch_status(call: Call, arguments: AttemptArgument) -> Outcome {
    let status = call.forge.branch_status(arguments.attempt_id.0).await?;
    tell(&call, arguments.attempt_id.0, json!(status)).await
}

async fn rebase_task_attempt(call: Call, arguments: RebaseArguments) -> Outcome {
    let id = arguments.attempt_id.0;
    let new_base_branch = arguments.base_branch.filter(|name| !name.trim().is_empty());
    let request = RebaseAttempt { old_base_branch: None, new_base_branch };
    match call.forge.rebase_attempt(id, request).await? {
        RebaseOutcome::Done => tell(&call, id, json!({"rebased": true})).await,
        RebaseOutcome::Conflicts { message } => Err(stuck(&message)),
        RebaseOutcome::InProgress => Err(stuck("an earlier rebase has stopped with conflicts")),
    }
}

fn stuck(message: &str) -> Fault {
    let message =
        format!("{message} To go on, tell the agent with follow_up to resolve them, or call abort_conflicts");
    Fault::new(StatusCode::CONFLICT, message)
}

async fn merge_task_attempt(call: Call, arguments: AttemptArgument) -> Outcome {
    let id = arguments.attempt_id.0;
    call.forge.merge_attempt(id).await?;
    let merges = call.forge.merges(id).await?;
    let commit = merges.first().and_then(|merge| merge.commit());
    tell(&call, id, json!({"merged": true, "merge_commit": commit})).await
}

async fn push_task_attempt(call: Call, arguments: AttemptArgument) -> Outcome {
    call.forge.push_attempt(arguments.attempt_id.0).await?;
    tell(&call, arguments.attempt_id.0, json!({"pushed": true})).await
}

async fn create_pr(call: Call, arguments: PullArguments) -> Outcome {
    let id = arguments.attempt_id.0;
    let title = match arguments.title.filter(|title| !title.trim().is_empty()) {
        Some(title) => title,
        None => call.forge.task(call.forge.attempt(id).await?.task_id).await?.title,
    };
    let request = CreatePullRequest { title, body: arguments.body, target_branch: None };
    match call.forge.create_pull_request(id, request).await? {
        Opened::Url(pr_url) => tell(&call, id, json!({"pr_url": pr_url})).await,
        Opened::Refused(refusal) => Err(Fault::new(
            StatusCode::FORBIDDEN,
            format!(
                "the code host refused: {}; set a token in the settings or log in with gh",
                refusal.explain()
            ),
        )),
    }
}

async fn attach_pr(call: Call, arguments: AttachArguments) -> Outcome {
    let id = arguments.attempt_id.0;
    let request = AttachPullRequest { pr_number: arguments.pr_number };
    let attached = call.forge.attach_pull_request(id, request).await?;
    tell(&call, id, json!(attached)).await
}

async fn change_target_branch(call: Call, arguments: TargetArguments) -> Outcome {
    let id = arguments.attempt_id.0;
    let name =
        filled("target_branch", &arguments.target_branch, "the name of a branch; list_branches tells them")?;
    let request = ChangeTargetBranch { new_target_branch: name.to_owned() };
    let changed = call.forge.change_target_branch(id, request).await?;
    let (ahead, behind) = changed.status;
    tell(&call, id, json!({"commits_ahead": ahead, "commits_behind": behind})).await
}

async fn abort_conflicts(call: Call, arguments: AttemptArgument) -> Outcome {
    call.forge.abort_conflicts(arguments.attempt_id.0).await?;
    tell(&call, arguments.attempt_id.0, json!({"in_conflict": false})).await
}

/// The answer, with which attempt it is about and where people see it.
async fn tell(call: &Call, id: AttemptId, mut data: Value) -> Outcome {
    let attempt = call.forge.attempt(id).await?;
    data["attempt_id"] = json!(id);
    data["task_id"] = json!(attempt.task_id);
    data["branch"] = json!(attempt.branch);
    data["target_branch"] = json!(attempt.target_branch);
    data["url"] = json!(url(&call.forge, &attempt));
    Ok(data.into())
}
