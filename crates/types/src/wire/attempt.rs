//! An attempt with what its runs did and changed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Attempt, AttemptId, Diff, DiffChange, Run, RunId, RunReason, RunStatus, Task};

/// One attempt with its task and the transcript of its runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-extends" = "TaskAttempt"))]
pub struct TaskAttemptDetail {
    #[serde(flatten)]
    pub attempt: Attempt,
    pub task: Task,
    pub execution_processes: Vec<ProcessDigest>,
}

/// A process as its attempt shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessDigest {
    pub id: RunId,
    /// In capitals, unlike everywhere else: the only reader of this list expects it.
    pub status: DigestStatus,
    pub normalized_logs: Vec<TextEntry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum DigestStatus {
    Running,
    Completed,
    Failed,
    Killed,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TextEntry {
    pub r#type: String,
    pub content: String,
}

impl TaskAttemptDetail {
    /// The newest agent run is first, because readers look only at the first; `output` is its transcript. Of that only
    /// the agent's answers are shown: readers take every text for an answer.
    pub fn new(attempt: Attempt, task: Task, runs: &[Run], output: Option<String>) -> Self {
        let mut order: Vec<&Run> = runs.iter().rev().collect();
        order.sort_by_key(|run| run.reason != RunReason::CodingAgent);
        let mut output = output;
        let execution_processes =
            order.into_iter().map(|run| ProcessDigest::new(run, output.take())).collect();
        Self { attempt, task, execution_processes }
    }
}

/// The run whose transcript a [`TaskAttemptDetail`] shows.
pub fn newest_agent_run(runs: &[Run]) -> Option<&Run> {
    runs.iter().rev().find(|run| run.reason == RunReason::CodingAgent)
}

impl ProcessDigest {
    fn new(run: &Run, output: Option<String>) -> Self {
        let status = match run.status {
            RunStatus::Running => DigestStatus::Running,
            RunStatus::Completed => DigestStatus::Completed,
            RunStatus::Failed => DigestStatus::Failed,
            RunStatus::Killed => DigestStatus::Killed,
        };
        let answer = output.and_then(|output| last_answer(run.summary.as_deref()?, &output));
        let entry = |content| TextEntry { r#type: "text".to_owned(), content };
        Self { id: run.id, status, normalized_logs: answer.into_iter().map(entry).collect() }
    }
}

/// The agent's last answer: a summary that was cut continues in the transcript, which ends with the whole of it.
fn last_answer(summary: &str, output: &str) -> Option<String> {
    let whole = || {
        let begin =
            summary.strip_suffix("...").filter(|begin| !output.contains(summary) && !begin.is_empty())?;
        output.rfind(begin).map(|at| output[at..].trim_end().to_owned())
    };
    Some(whole().unwrap_or_else(|| summary.to_owned()))
}

/// What a replacement did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReplaceProcessResult {
    pub deleted_count: u64,
    pub git_reset_needed: bool,
    pub git_reset_applied: bool,
    pub target_before_oid: Option<String>,
    pub new_execution_id: Option<RunId>,
}

/// A changed file without its contents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedFile {
    pub path: String,
    /// Where it was, if it was moved.
    pub old_path: Option<String>,
    pub change: DiffChange,
    pub additions: Option<u64>,
    pub deletions: Option<u64>,
}

impl From<&Diff> for ChangedFile {
    fn from(file: &Diff) -> Self {
        Self {
            path: file.key().to_owned(),
            old_path: file.old_path.clone().filter(|old| old != file.key()),
            change: file.change,
            additions: file.additions,
            deletions: file.deletions,
        }
    }
}

/// The patch of an attempt, or as much of it as was requested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttemptDiff {
    pub attempt_id: AttemptId,
    pub target_branch: String,
    pub files: Vec<ChangedFile>,
    pub files_changed: usize,
    pub additions: u64,
    pub deletions: u64,
    pub diff: String,
    pub truncated: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_answer_is_shown_whole_and_nothing_else() {
        assert_eq!(last_answer("short", "thought\nshort").as_deref(), Some("short"));
        assert_eq!(last_answer("to be...", "to be...").as_deref(), Some("to be..."));
        assert_eq!(last_answer("one two...", "thought\none two three\n").as_deref(), Some("one two three"));
        assert_eq!(last_answer("gone...", "another").as_deref(), Some("gone..."));
    }
}
