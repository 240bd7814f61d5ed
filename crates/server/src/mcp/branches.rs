//! Tools for an attempt's branch: its state, rebasing and landing it, its conflicts and its worktree.
//!
//! Invariant: a rebase that stops is a failure whose message says how to continue, since the work has not arrived.

use axum::http::StatusCode;
use forge_core::RebaseOutcome;
use forge_types::{AttemptId, ChangeTargetBranch, ErrorCode, RebaseAttempt};
use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::envelope::Fault;
use crate::mcp::argument::{Id, ProjectArgument, filled};
use crate::mcp::attempts::{AttemptArgument, with_attempt};
use crate::mcp::projects;
use crate::mcp::tool::{Call, Outcome, tools};

tools! {
    Reads get_branch_status(AttemptArgument)
        "Shows the state of an attempt's branch: commits ahead of and behind its target, uncommitted files, conflicts and merges.";
    Replaces rebase_task_attempt(RebaseArguments)
        "Replays an attempt's commits onto the newest state of its target branch, or onto another branch that becomes its target.";
    Adds merge_task_attempt(AttemptArgument)
        "Lands an attempt: its work becomes one commit on its target branch, and its task is done. Refused while an agent runs or on conflict.";
    Replaces change_target_branch(TargetArguments)
        "Sets the branch that an attempt is compared with and merged into. Nothing is rebased.";
    Replaces abort_conflicts(AttemptArgument)
        "Aborts a rebase or merge that stopped with conflicts in an attempt's worktree; the branch is as it was before.";
    Starts resolve_conflicts(AttemptArgument)
        "Asks the attempt's agent to resolve the conflicts at which a rebase or merge has stopped, and to finish it. Then call wait_for_attempt.";
    Reads list_conflicts(ProjectArgument)
        "Lists which attempts of a project would conflict with their target branch, and which with each other, in which files.";
    Adds restore_worktree(AttemptArgument)
        "Brings back the worktree of an attempt that was put away, with everything that was in it.";
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct RebaseArguments {
    /// The id of the attempt, from list_task_attempts.
    attempt_id: Id<AttemptId>,
    /// Another branch to replay onto; the target branch when left out.
    base_branch: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct TargetArguments {
    /// The id of the attempt, from list_task_attempts.
    attempt_id: Id<AttemptId>,
    /// The name of the new target branch.
    target_branch: String,
}

async fn get_branch_status(call: Call, arguments: AttemptArgument) -> Outcome {
    let id = arguments.attempt_id.0;
    // The engine would bring the worktree back to look at it, which a status query must not do.
    if call.forge.attempt(id).await?.worktree_deleted {
        let away = Fault::new(StatusCode::CONFLICT, "the attempt's worktree was put away");
        return Err(away.hint("restore_worktree brings it back"));
    }
    let status = call.forge.branch_status(id).await?;
    with_attempt(&call, id, json!(status)).await
}

async fn rebase_task_attempt(call: Call, arguments: RebaseArguments) -> Outcome {
    let id = arguments.attempt_id.0;
    let new_base_branch = arguments.base_branch.filter(|name| !name.trim().is_empty());
    let request = RebaseAttempt { old_base_branch: None, new_base_branch };
    match call.forge.rebase_attempt(id, request).await? {
        RebaseOutcome::Done => with_attempt(&call, id, json!({"rebased": true})).await,
        RebaseOutcome::Conflicts { message } => Err(stuck(&message, ErrorCode::MergeConflicts)),
        RebaseOutcome::InProgress => {
            Err(stuck("an earlier rebase has stopped with conflicts", ErrorCode::OperationInProgress))
        }
    }
}

fn stuck(message: &str, code: ErrorCode) -> Fault {
    let fault = Fault::new(StatusCode::CONFLICT, message.trim_end_matches('.')).code(code);
    fault.hint("call resolve_conflicts, which asks the agent to resolve them, or abort_conflicts")
}

async fn merge_task_attempt(call: Call, arguments: AttemptArgument) -> Outcome {
    let id = arguments.attempt_id.0;
    call.forge.merge_attempt(id, None, None).await?;
    let merges = call.forge.merges(id).await?;
    let commit = merges.first().and_then(|merge| merge.commit());
    with_attempt(&call, id, json!({"merged": true, "merge_commit": commit})).await
}

async fn change_target_branch(call: Call, arguments: TargetArguments) -> Outcome {
    let id = arguments.attempt_id.0;
    let name =
        filled("target_branch", &arguments.target_branch, "the name of a branch; list_branches lists them")?;
    let request = ChangeTargetBranch { new_target_branch: name.to_owned() };
    let changed = call.forge.change_target_branch(id, request).await?;
    let (ahead, behind) = changed.status;
    with_attempt(&call, id, json!({"commits_ahead": ahead, "commits_behind": behind})).await
}

async fn abort_conflicts(call: Call, arguments: AttemptArgument) -> Outcome {
    call.forge.abort_conflicts(arguments.attempt_id.0).await?;
    with_attempt(&call, arguments.attempt_id.0, json!({"in_conflict": false})).await
}

async fn resolve_conflicts(call: Call, arguments: AttemptArgument) -> Outcome {
    let id = arguments.attempt_id.0;
    let run = call.forge.resolve_conflicts(id).await?;
    with_attempt(&call, id, json!({"process_id": run.id})).await
}

async fn list_conflicts(call: Call, arguments: ProjectArgument) -> Outcome {
    let id = arguments.project_id.0;
    let mut conflicts = json!(call.forge.conflicts(id).await?);
    conflicts["project_id"] = json!(id);
    conflicts["url"] = json!(projects::url(&call.forge, id));
    Ok(conflicts.into())
}

async fn restore_worktree(call: Call, arguments: AttemptArgument) -> Outcome {
    let id = arguments.attempt_id.0;
    let restored = call.forge.restore_worktree(id).await?;
    with_attempt(&call, id, json!(restored)).await
}
