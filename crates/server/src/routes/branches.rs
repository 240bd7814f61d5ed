//! The branches of attempts: their state, rebasing and landing them, and their conflicts.
//!
//! Invariant: routes that need no body do not read one. A rebase that stops is a response with data, not a failure.

use axum::extract::{Request, State};
use forge_core::{ChangeStat, Forge, PatchRequest, RebaseOutcome};
use forge_types::wire::{AttemptDiff, ChangedFile, EditorUrl, ExecutionProcess};
use forge_types::{
    AttemptId, ChangeTargetBranch, ErrorCode, MergeAttempt, OpenEditor, ProjectId, RebaseAttempt,
};
use serde_json::json;

use crate::compat::Older;
use crate::envelope::{Answer, Fault, ok, refuse};
use crate::extract::{BODY_LIMIT, Id, OptionalPayload, Params, Payload, read};
use crate::once::Key;

/// The whole response is in memory.
pub(crate) const DIFF_MAX_BYTES: u64 = 16 << 20;
const DIFF_MAX_FILES: usize = 20_000;
pub(crate) const DIFF_MAX_CONTEXT: u32 = 1000;

pub(crate) async fn status(State(forge): State<Forge>, Id(id): Id<AttemptId>) -> Answer {
    Ok(ok(forge.branch_status(id).await?))
}

/// `max_bytes=0` selects the figures alone, `path` one file.
pub(crate) async fn diff(State(forge): State<Forge>, Id(id): Id<AttemptId>, params: Params) -> Answer {
    let request = PatchRequest {
        max_bytes: params.number("max_bytes", 0, DIFF_MAX_BYTES)?.unwrap_or(DIFF_MAX_BYTES),
        max_files: DIFF_MAX_FILES,
        file: params.get("path"),
        context_lines: params.number("context", 0, DIFF_MAX_CONTEXT)?,
    };
    let patch = forge.patch(id, request).await?;
    Ok(ok(AttemptDiff {
        attempt_id: id,
        target_branch: forge.attempt(id).await?.target_branch,
        files: changed_files(&patch.changes),
        files_changed: patch.changes.file_count,
        additions: patch.changes.additions,
        deletions: patch.changes.deletions,
        diff: patch.text,
        truncated: patch.truncated,
    }))
}

pub(crate) fn changed_files(changes: &ChangeStat) -> Vec<ChangedFile> {
    changes.files.iter().map(ChangedFile::from).collect()
}

/// Clients send anything here: a body that is not an object with a message counts as none.
pub(crate) async fn merge(
    State(forge): State<Forge>,
    key: Key,
    Id(id): Id<AttemptId>,
    request: Request,
) -> Answer {
    let body = read(request, BODY_LIMIT).await.unwrap_or_default();
    let request: MergeAttempt = serde_json::from_slice(&body).unwrap_or_default();
    Ok(ok(forge.merge_attempt(id, request.message.as_deref(), key.once()).await?))
}

pub(crate) async fn rebase(
    State(forge): State<Forge>,
    Id(id): Id<AttemptId>,
    OptionalPayload(Older(request)): OptionalPayload<Older<RebaseAttempt>>,
) -> Answer {
    Ok(match forge.rebase_attempt(id, request).await? {
        RebaseOutcome::Done => ok(()),
        RebaseOutcome::Conflicts { message } => {
            let data = json!({"type": "merge_conflicts", "message": message, "op": "rebase"});
            refuse(ErrorCode::MergeConflicts, data)
        }
        RebaseOutcome::InProgress => {
            refuse(ErrorCode::OperationInProgress, json!({"type": "rebase_in_progress"}))
        }
    })
}

pub(crate) async fn abort_conflicts(State(forge): State<Forge>, Id(id): Id<AttemptId>) -> Answer {
    Ok(ok(forge.abort_conflicts(id).await?))
}

pub(crate) async fn resolve_conflicts(State(forge): State<Forge>, Id(id): Id<AttemptId>) -> Answer {
    Ok(ok(ExecutionProcess::from(forge.resolve_conflicts(id).await?)))
}

pub(crate) async fn change_target(
    State(forge): State<Forge>,
    Id(id): Id<AttemptId>,
    Payload(Older(request)): Payload<Older<ChangeTargetBranch>>,
) -> Answer {
    Ok(ok(forge.change_target_branch(id, request).await?))
}

pub(crate) async fn delete_file(State(forge): State<Forge>, Id(id): Id<AttemptId>, params: Params) -> Answer {
    Ok(ok(forge.delete_file(id, params.require("file_path")?).await?))
}

pub(crate) async fn commit_info(State(forge): State<Forge>, Id(id): Id<AttemptId>, params: Params) -> Answer {
    Ok(ok(forge.commit_info(id, sha(&params)?).await?))
}

pub(crate) async fn compare_commit(
    State(forge): State<Forge>,
    Id(id): Id<AttemptId>,
    params: Params,
) -> Answer {
    Ok(ok(forge.compare_commit(id, sha(&params)?).await?))
}

fn sha(params: &Params) -> Result<&str, Fault> {
    let given = params.get("sha").filter(|sha| !sha.is_empty());
    given.ok_or_else(|| Fault::bad_request("Missing sha param").field("sha"))
}

pub(crate) async fn children(State(forge): State<Forge>, Id(id): Id<AttemptId>) -> Answer {
    Ok(ok(forge.task_relationships(id).await?))
}

/// `url` is for editors that open by a link.
pub(crate) async fn open(
    State(forge): State<Forge>,
    Id(id): Id<AttemptId>,
    OptionalPayload(Older(request)): OptionalPayload<Older<OpenEditor>>,
) -> Answer {
    let url = forge.open_attempt(id, request).await?;
    Ok(ok(EditorUrl { url }))
}

pub(crate) async fn conflicts(State(forge): State<Forge>, Id(id): Id<ProjectId>) -> Answer {
    Ok(ok(forge.conflicts(id).await?))
}
