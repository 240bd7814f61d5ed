//! Tools that show what an attempt does and did: waiting, the result, the transcript and the diff.
//!
//! Invariant: every wait and every text is bounded; what was cut says so.

use std::pin::pin;
use std::time::Duration;

use forge_core::{AttemptReport, ChangeStat, Dropped, Forge, PatchRequest, Pause};
use forge_types::wire::newest_agent_run;
use forge_types::{Approval, AttemptId, AttemptStatus, Run, RunPhase, UsageQuery};
use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::mcp::approvals;
use crate::mcp::argument::{Id, refuse};
use crate::mcp::attempts::{AttemptArgument, url};
use crate::mcp::tool::{Call, Outcome, Reply, tools};
use crate::routes::branches::changed_files;

/// Most clients give a tool a minute.
const USUAL_WAIT_S: u64 = 50;
const MAX_WAIT_S: u64 = 600;
const BEAT: Duration = Duration::from_secs(5);
pub(crate) const LOG_BYTES: usize = 64 << 10;
pub(crate) const MAX_LOG_BYTES: usize = 256 << 10;
pub(crate) const DIFF_BYTES: u64 = 128 << 10;
pub(crate) const MAX_DIFF_BYTES: u64 = 1 << 20;
pub(crate) const DIFF_FILES: usize = 500;

tools! {
    Reads wait_for_attempt(WaitArguments)
        "Waits until the attempt's agent has ended or asks for an approval, at most wait_s seconds. Reports progress meanwhile. Call it again while finished is false.";
    Reads get_attempt_result(AttemptArgument)
        "Shows the result of an attempt: the agent's final message, commits, changed files, tokens used and their cost, merges and open questions.";
    Reads get_attempt_logs(LogArguments)
        "The readable transcript of an attempt, newest part: what the agent said and did, and what its scripts printed.";
    Reads get_attempt_diff(DiffArguments)
        "The patch of an attempt against its target branch, uncommitted and new files included; after a merge the patch of the merge.";
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct WaitArguments {
    /// The id of the attempt, from list_task_attempts.
    attempt_id: Id<AttemptId>,
    /// How long to wait, in seconds: 0 to 600; 50 when left out.
    wait_s: Option<u64>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct LogArguments {
    /// The id of the attempt, from list_task_attempts.
    attempt_id: Id<AttemptId>,
    /// At most this much of the end: 1 to 262144; 65536 when left out.
    max_bytes: Option<u64>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct DiffArguments {
    /// The id of the attempt, from list_task_attempts.
    attempt_id: Id<AttemptId>,
    /// At most this much of the patch: 1 to 1048576; 131072 when left out.
    max_bytes: Option<u64>,
}

async fn wait_for_attempt(call: Call, arguments: WaitArguments) -> Outcome {
    let id = arguments.attempt_id.0;
    let wait_s = within("wait_s", arguments.wait_s, USUAL_WAIT_S, 0, MAX_WAIT_S)?;
    let begun = Instant::now();
    let mut waiting = pin!(call.forge.await_attempt(id));
    let mut over = pin!(tokio::time::sleep(Duration::from_secs(wait_s)));
    let mut beat = tokio::time::interval(BEAT);
    let end = loop {
        tokio::select! {
            biased;
            pause = &mut waiting => break match pause? {
                Pause::Ended => End::Ended,
                Pause::Asks => End::Asks,
            },
            () = &mut over => break End::TimeOut,
            () = call.left.cancelled() => {
                tracing::info!(attempt = %id, "a wait was cancelled");
                break End::Cancelled;
            }
            _ = beat.tick() => {
                let waited_s = begun.elapsed().as_secs();
                let message = format!("the agent is running; waited {waited_s} of {wait_s} s");
                call.progress.report(waited_s as f64, wait_s as f64, message).await;
            }
        }
    };
    show_wait(&call.forge, id, end, begun.elapsed()).await
}

/// Why a wait is over.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Ended,
    Asks,
    TimeOut,
    Cancelled,
}

async fn show_wait(forge: &Forge, id: AttemptId, end: End, waited: Duration) -> Outcome {
    let attempt = forge.attempt(id).await?;
    let runs = forge.runs(id, Dropped::Hidden).await?;
    let approvals: Vec<Approval> = match end {
        End::Asks => {
            let is_its = |ask: &Approval| runs.iter().any(|run| ask.run_id == Some(run.id));
            forge.pending_approvals().await?.into_iter().filter(is_its).collect()
        }
        _ => Vec::new(),
    };
    let (reason, next) = match (end, attempt.status) {
        (End::Ended, AttemptStatus::Completed) => {
            ("ended", "get_attempt_result and get_attempt_diff show the work; merge_task_attempt lands it")
        }
        (End::Ended, _) => ("ended", "get_attempt_logs shows what happened; follow_up continues the work"),
        (End::Asks, _) => ("asks", "answer_approval answers the question; then call wait_for_attempt again"),
        (End::TimeOut, _) => ("time-out", "call wait_for_attempt again"),
        (End::Cancelled, _) => ("cancelled", "call wait_for_attempt to wait again"),
    };
    let parked_until =
        runs.iter().rev().find(|run| run.phase == RunPhase::Parked).map(|run| run.parked_until);
    Ok(json!({
        "attempt_id": id,
        "task_id": attempt.task_id,
        "finished": end == End::Ended,
        "reason": reason,
        "status": attempt.status,
        "waited_s": waited.as_secs(),
        "final_message": newest_agent_run(&runs).and_then(|run| run.summary.as_deref()),
        "approvals": approvals.iter().map(approvals::show).collect::<Vec<_>>(),
        "parked_until": parked_until,
        "next": next,
        "url": url(forge, &attempt),
    })
    .into())
}

async fn get_attempt_result(call: Call, arguments: AttemptArgument) -> Outcome {
    let id = arguments.attempt_id.0;
    let report = call.forge.attempt_report(id).await?;
    let used = call.forge.usage(UsageQuery { attempt_id: Some(id), ..UsageQuery::default() }).await?;
    let mut shown = show_report(&call.forge, &report);
    shown["usage"] = json!(used.total);
    Ok(shown.into())
}

fn show_report(forge: &Forge, report: &AttemptReport) -> Value {
    let attempt = &report.attempt;
    let finished = report.runs.iter().all(|run| run.phase == RunPhase::Ended);
    json!({
        "attempt_id": attempt.id,
        "task_id": attempt.task_id,
        "title": report.task.title,
        "status": attempt.status,
        "finished": finished,
        "final_message": report.final_message,
        "branch": attempt.branch,
        "target_branch": attempt.target_branch,
        "worktree_deleted": attempt.worktree_deleted,
        "commits": report.commits,
        "diff_stat": show_stat(&report.changes),
        "tokens": attempt.tokens,
        "merges": report.merges,
        "approvals": report.asks.iter().map(approvals::show).collect::<Vec<_>>(),
        "processes": report.runs.iter().map(show_run).collect::<Vec<_>>(),
        "url": url(forge, attempt),
    })
}

pub(crate) fn show_run(run: &Run) -> Value {
    json!({
        "id": run.id,
        "run_reason": run.reason,
        "status": run.status,
        "exit_code": run.exit_code,
        "started_at": run.started_at,
        "completed_at": run.completed_at,
        "unverified": run.unverified,
        "commit_error": run.commit_error,
        "setup_required": run.setup_required,
        "open_conflicts": run.open_conflicts,
    })
}

fn show_stat(changes: &ChangeStat) -> Value {
    json!({
        "files_changed": changes.file_count,
        "additions": changes.additions,
        "deletions": changes.deletions,
        "files": changed_files(changes),
    })
}

async fn get_attempt_logs(call: Call, arguments: LogArguments) -> Outcome {
    let id = arguments.attempt_id.0;
    let max = MAX_LOG_BYTES as u64;
    let max_bytes = within("max_bytes", arguments.max_bytes, LOG_BYTES as u64, 1, max)?;
    let transcript = call.forge.transcript(id, max_bytes as usize).await?;
    let attempt = call.forge.attempt(id).await?;
    let data = json!({
        "attempt_id": id,
        "status": attempt.status,
        "logs": transcript.text,
        "truncated": transcript.truncated,
        "url": url(&call.forge, &attempt),
    });
    let cut = if transcript.truncated { "(older parts are left out)\n\n" } else { "" };
    Ok(Reply { data, text: Some(format!("{cut}{}", transcript.text)) })
}

async fn get_attempt_diff(call: Call, arguments: DiffArguments) -> Outcome {
    let id = arguments.attempt_id.0;
    let max_bytes = within("max_bytes", arguments.max_bytes, DIFF_BYTES, 1, MAX_DIFF_BYTES)?;
    let patch = call.forge.patch(id, PatchRequest::whole(max_bytes, DIFF_FILES)).await?;
    let attempt = call.forge.attempt(id).await?;
    let data = json!({
        "attempt_id": id,
        "target_branch": attempt.target_branch,
        "files": changed_files(&patch.changes),
        "diff": patch.text,
        "truncated": patch.truncated,
        "committed_only": patch.committed_only,
        "url": url(&call.forge, &attempt),
    });
    let text = match (patch.text.as_str(), patch.truncated) {
        ("", false) => "no changes".to_owned(),
        (text, true) => format!("{text}\n(the rest is left out; give a larger max_bytes to see more)"),
        (text, false) => text.to_owned(),
    };
    let away = match patch.committed_only {
        true => "(the worktree was put away, so only commits are shown; restore_worktree brings it back)\n\n",
        false => "",
    };
    let text = format!("{away}{text}");
    Ok(Reply { data, text: Some(text) })
}

fn within(
    name: &str,
    given: Option<u64>,
    usual: u64,
    min: u64,
    max: u64,
) -> Result<u64, crate::envelope::Fault> {
    match given {
        None => Ok(usual),
        Some(given) if (min..=max).contains(&given) => Ok(given),
        Some(given) => Err(refuse(format!(
            "{name}: '{given}' is not allowed; allowed: a whole number from {min} to {max}"
        ))),
    }
}
