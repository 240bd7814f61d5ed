//! The translation between our words and the wire's, in one place.
//!
//! Our *run* is the wire's *execution process*, our *errand* its *execution run*. Everything else already serialises as
//! the contract requires; here are only the objects that are assembled from several of ours. Invariant: nothing outside
//! this file writes `execution_process…` or `execution_run…` as a JSON key of an object.

use forge_core::{AttemptPatch, ChangeStat, IssueTask, Started, StartedErrand};
use forge_types::{
    Action, Approval, ApprovalId, ApprovalStatus, Attempt, AttemptId, Diff, DiffChange, Draft, DraftKind,
    Errand, ErrandId, ImageId, IssueLink, Millis, Run, RunId, RunReason, RunStatus, Task, TaskId,
    TaskSummary,
};
use serde::Serialize;
use serde_json::Value;

/// An execution process.
#[derive(Serialize)]
pub(crate) struct Process<'a> {
    id: RunId,
    task_attempt_id: Option<AttemptId>,
    execution_run_id: Option<ErrandId>,
    run_reason: RunReason,
    executor_action: &'a Action,
    before_head_commit: Option<&'a str>,
    after_head_commit: Option<&'a str>,
    status: RunStatus,
    exit_code: Option<i32>,
    dropped: bool,
    started_at: Millis,
    completed_at: Option<Millis>,
    created_at: Millis,
    updated_at: Millis,
    output: Option<String>,
    /// Present for a run that waits, or waited, for its provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    parked_until: Option<Millis>,
    /// True when the agent reported success and nothing shows that it did anything.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unverified: bool,
    /// Why its work is not committed; absent when it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit_error: Option<&'a str>,
    /// True when somebody has to install the agent, log in or give it a key first.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    setup_required: bool,
    /// Files in which the agent left conflicts open; absent when it left none.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    open_conflicts: &'a [String],
}

/// A run without its transcript.
pub(crate) fn process(run: &Run) -> Process<'_> {
    process_with_output(run, None)
}

pub(crate) fn process_with_output(run: &Run, output: Option<String>) -> Process<'_> {
    Process {
        id: run.id,
        task_attempt_id: run.owner.attempt(),
        execution_run_id: run.owner.errand(),
        run_reason: run.reason,
        executor_action: &run.action,
        before_head_commit: run.before_head.as_deref(),
        after_head_commit: run.after_head.as_deref(),
        status: run.status,
        exit_code: run.exit_code,
        dropped: run.dropped,
        started_at: run.started_at,
        completed_at: run.completed_at,
        created_at: run.created_at,
        updated_at: run.updated_at,
        output,
        parked_until: run.parked_until,
        unverified: run.unverified,
        commit_error: run.commit_error.as_deref(),
        setup_required: run.setup_required,
        open_conflicts: &run.open_conflicts,
    }
}

/// A list of runs, oldest first; the last one carries the transcript.
pub(crate) fn processes(runs: &[Run], last_output: Option<String>) -> Vec<Process<'_>> {
    let mut list: Vec<_> = runs.iter().map(process).collect();
    if let Some(last) = list.last_mut() {
        last.output = last_output;
    }
    list
}

/// The response to create-and-start: the task flat, and again beside its attempt.
#[derive(Serialize)]
pub(crate) struct StartedTask<'a> {
    #[serde(flatten)]
    summary: &'a TaskSummary,
    attempts: [&'a Attempt; 1],
    task_attempt: &'a Attempt,
    task: &'a Task,
}

pub(crate) fn started_task(started: &Started) -> StartedTask<'_> {
    StartedTask {
        summary: &started.task,
        attempts: [&started.attempt],
        task_attempt: &started.attempt,
        task: &started.task.task,
    }
}

/// The task of an issue, flat like a started task, with its newest attempt when there is one.
#[derive(Serialize)]
pub(crate) struct TaskOfIssue<'a> {
    #[serde(flatten)]
    summary: &'a TaskSummary,
    attempts: Vec<&'a Attempt>,
    task_attempt: Option<&'a Attempt>,
    task: &'a Task,
    issue: &'a IssueLink,
}

pub(crate) fn task_of_issue(made: &IssueTask) -> TaskOfIssue<'_> {
    TaskOfIssue {
        summary: &made.task,
        attempts: made.attempt.iter().collect(),
        task_attempt: made.attempt.as_ref(),
        task: &made.task.task,
        issue: &made.issue,
    }
}

/// One attempt with its task and the transcript of its runs.
#[derive(Serialize)]
pub(crate) struct AttemptDetail<'a> {
    #[serde(flatten)]
    attempt: &'a Attempt,
    task: &'a Task,
    execution_processes: Vec<ProcessDigest>,
}

#[derive(Serialize)]
struct ProcessDigest {
    id: RunId,
    /// In capitals, unlike everywhere else: the only reader of this list expects it.
    status: &'static str,
    normalized_logs: Vec<TextEntry>,
}

#[derive(Serialize)]
struct TextEntry {
    r#type: &'static str,
    content: String,
}

/// The newest agent run is first, because readers look only at the first; `output` is its transcript. Of that only the
/// agent's answers are shown: readers take every text for an answer.
pub(crate) fn attempt_detail<'a>(
    attempt: &'a Attempt,
    task: &'a Task,
    runs: &[Run],
    output: Option<String>,
) -> AttemptDetail<'a> {
    let mut order: Vec<&Run> = runs.iter().rev().collect();
    order.sort_by_key(|run| run.reason != RunReason::CodingAgent);
    let mut output = output;
    let execution_processes = order.into_iter().map(|run| digest(run, output.take())).collect();
    AttemptDetail { attempt, task, execution_processes }
}

/// The run whose transcript [`attempt_detail`] shows.
pub(crate) fn newest_agent_run(runs: &[Run]) -> Option<&Run> {
    runs.iter().rev().find(|run| run.reason == RunReason::CodingAgent)
}

fn digest(run: &Run, output: Option<String>) -> ProcessDigest {
    let status = match run.status {
        RunStatus::Running => "RUNNING",
        RunStatus::Completed => "COMPLETED",
        RunStatus::Failed => "FAILED",
        RunStatus::Killed => "KILLED",
    };
    let answer = output.and_then(|output| answer(run.summary.as_deref()?, &output));
    let normalized_logs = answer.into_iter().map(|content| TextEntry { r#type: "text", content }).collect();
    ProcessDigest { id: run.id, status, normalized_logs }
}

/// The agent's last answer: a summary that was cut continues in the transcript, which ends with the whole of it.
fn answer(summary: &str, output: &str) -> Option<String> {
    let whole = || {
        let begin =
            summary.strip_suffix("...").filter(|begin| !output.contains(summary) && !begin.is_empty())?;
        output.rfind(begin).map(|at| output[at..].trim_end().to_owned())
    };
    Some(whole().unwrap_or_else(|| summary.to_owned()))
}

/// A changed file without its contents.
#[derive(Serialize)]
pub(crate) struct ChangedFile<'a> {
    path: &'a str,
    /// Where it was, if it was moved.
    old_path: Option<&'a str>,
    change: DiffChange,
    additions: Option<u64>,
    deletions: Option<u64>,
}

impl<'a> ChangedFile<'a> {
    fn of(file: &'a Diff) -> Self {
        Self {
            path: file.key(),
            old_path: file.old_path.as_deref().filter(|old| *old != file.key()),
            change: file.change,
            additions: file.additions,
            deletions: file.deletions,
        }
    }
}

pub(crate) fn changed_files(changes: &ChangeStat) -> Vec<ChangedFile<'_>> {
    changes.files.iter().map(ChangedFile::of).collect()
}

/// What an attempt changed.
#[derive(Serialize)]
pub(crate) struct AttemptDiff<'a> {
    attempt_id: AttemptId,
    target_branch: &'a str,
    files: Vec<ChangedFile<'a>>,
    files_changed: usize,
    additions: u64,
    deletions: u64,
    diff: &'a str,
    truncated: bool,
}

pub(crate) fn attempt_diff<'a>(attempt: &'a Attempt, patch: &'a AttemptPatch) -> AttemptDiff<'a> {
    AttemptDiff {
        attempt_id: attempt.id,
        target_branch: &attempt.target_branch,
        files: changed_files(&patch.changes),
        files_changed: patch.changes.file_count,
        additions: patch.changes.additions,
        deletions: patch.changes.deletions,
        diff: &patch.text,
        truncated: patch.truncated,
    }
}

/// The response to starting an errand.
#[derive(Serialize)]
pub(crate) struct ErrandStart<'a> {
    execution_run: &'a Errand,
    execution_process: Option<Process<'a>>,
}

pub(crate) fn started_errand(started: &StartedErrand) -> ErrandStart<'_> {
    ErrandStart { execution_run: &started.errand, execution_process: started.run.as_ref().map(process) }
}

/// The drafts of one attempt.
#[derive(Serialize)]
pub(crate) struct Drafts {
    follow_up: Draft,
    retry: Option<Draft>,
}

/// A missing follow-up draft is shown as an empty one.
pub(crate) fn drafts(attempt: AttemptId, stored: Vec<Draft>, now: Millis) -> Drafts {
    let mut drafts = Drafts { follow_up: Draft::empty(attempt, now), retry: None };
    for draft in stored {
        match draft.draft_type {
            DraftKind::FollowUp => drafts.follow_up = draft,
            DraftKind::Retry => drafts.retry = Some(draft),
        }
    }
    drafts
}

/// A draft as responses about one draft show it; streams show the whole [`Draft`].
#[derive(Serialize)]
pub(crate) struct DraftAnswer {
    task_attempt_id: AttemptId,
    draft_type: DraftKind,
    retry_process_id: Option<RunId>,
    prompt: String,
    queued: bool,
    sending: bool,
    variant: Option<String>,
    image_ids: Option<Vec<ImageId>>,
    version: i64,
}

pub(crate) fn draft(draft: Draft) -> DraftAnswer {
    DraftAnswer {
        task_attempt_id: draft.task_attempt_id,
        draft_type: draft.draft_type,
        retry_process_id: draft.retry_process_id,
        prompt: draft.prompt,
        queued: draft.queued,
        sending: draft.sending,
        variant: draft.variant,
        image_ids: draft.image_ids,
        version: draft.version,
    }
}

/// A question with its state.
#[derive(Serialize)]
pub(crate) struct ApprovalAnswer<'a> {
    id: ApprovalId,
    tool_name: &'a str,
    tool_input: &'a Value,
    session_id: Option<&'a str>,
    execution_process_id: Option<RunId>,
    tool_call_id: Option<&'a str>,
    #[serde(flatten)]
    status: &'a ApprovalStatus,
    created_at: Millis,
    timeout_at: Millis,
    #[serde(flatten)]
    asker: Asker,
}

/// Whose question it is; nothing when it came from outside any attempt.
#[derive(Serialize)]
struct Asker {
    #[serde(skip_serializing_if = "Option::is_none")]
    task_attempt_id: Option<AttemptId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<TaskId>,
}

impl Asker {
    fn of(approval: &Approval) -> Self {
        Self { task_attempt_id: approval.attempt_id, task_id: approval.task_id }
    }
}

pub(crate) fn approval(approval: &Approval) -> ApprovalAnswer<'_> {
    ApprovalAnswer {
        id: approval.id,
        tool_name: &approval.tool_name,
        tool_input: &approval.tool_input,
        session_id: approval.session_id.as_deref(),
        execution_process_id: approval.run_id,
        tool_call_id: approval.call_id.as_deref(),
        status: &approval.status,
        created_at: approval.created_at,
        timeout_at: approval.timeout_at,
        asker: Asker::of(approval),
    }
}

/// A waiting question, with the names of both generations of clients.
#[derive(Serialize)]
pub(crate) struct PendingApproval<'a> {
    id: ApprovalId,
    approval_id: ApprovalId,
    execution_process_id: Option<RunId>,
    tool_name: &'a str,
    tool_input: &'a Value,
    message: String,
    created_at: Millis,
    requested_at: Millis,
    timeout_at: Millis,
    #[serde(flatten)]
    asker: Asker,
}

pub(crate) fn pending(approval: &Approval) -> PendingApproval<'_> {
    PendingApproval {
        id: approval.id,
        approval_id: approval.id,
        execution_process_id: approval.run_id,
        tool_name: &approval.tool_name,
        tool_input: &approval.tool_input,
        message: format!("May {} be used?", approval.tool_name),
        created_at: approval.created_at,
        requested_at: approval.created_at,
        timeout_at: approval.timeout_at,
        asker: Asker::of(approval),
    }
}

#[cfg(test)]
mod tests;
