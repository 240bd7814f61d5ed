//! What another system knew, on its way into Forge, and what became of it.
//!
//! Whoever reads the other system makes a [`Bundle`], and the engine takes it. Every row has a `key`, by which its
//! source always names it, and its old id where that is a UUID. Logs are pulled when they are written, so a bundle is
//! small however large its logs are.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    AgentId, AttemptId, ImageId, MergeId, Millis, PrInfo, ProjectId, RunId, RunReason, RunStatus, TagId,
    TaskId, TaskStatus, TemplateId,
};

/// Everything that one source contains.
#[derive(Debug, Default)]
pub struct Bundle {
    /// Names the source for ever: with a key it determines whether something was imported before.
    pub source: String,
    pub projects: Vec<OldProject>,
    pub tags: Vec<OldTag>,
    /// Templates that belong to no project.
    pub templates: Vec<OldTemplate>,
    /// What the reader could not understand, for people.
    pub notes: Vec<String>,
}

#[derive(Debug, Default)]
pub struct OldProject {
    pub key: String,
    pub id: Option<ProjectId>,
    pub name: String,
    pub git_repo_path: String,
    pub setup_script: Option<String>,
    pub dev_script: Option<String>,
    pub cleanup_script: Option<String>,
    pub copy_files: Option<String>,
    pub default_base_branch: Option<String>,
    pub created_at: Millis,
    pub updated_at: Millis,
    pub tasks: Vec<OldTask>,
    pub templates: Vec<OldTemplate>,
    pub agents: Vec<OldAgent>,
}

/// An agent that clients find again by its type, and the task of its chat.
#[derive(Debug)]
pub struct OldAgent {
    pub id: Option<AgentId>,
    pub agent_type: String,
    pub task_key: String,
    pub created_at: Millis,
    pub updated_at: Millis,
}

#[derive(Debug)]
pub struct OldTask {
    pub key: String,
    pub id: Option<TaskId>,
    pub title: String,
    pub description: Option<String>,
    pub status: TaskStatus,
    /// The key of the attempt that spawned this task.
    pub parent_attempt_key: Option<String>,
    pub created_at: Millis,
    pub updated_at: Millis,
    pub images: Vec<OldImage>,
    pub attempts: Vec<OldAttempt>,
}

#[derive(Debug)]
pub struct OldImage {
    pub key: String,
    pub id: Option<ImageId>,
    pub original_name: String,
    /// The file itself, which is only read.
    pub file: PathBuf,
    /// How texts of the task may refer to it, such as `.vibe-images/a.png`.
    pub shown_as: Vec<String>,
}

#[derive(Debug)]
pub struct OldAttempt {
    pub key: String,
    pub id: Option<AttemptId>,
    pub branch: String,
    pub target_branch: String,
    /// The source does not name the target: a different one next time means nothing.
    pub is_target_guessed: bool,
    /// `EXECUTOR` or `EXECUTOR:VARIANT` in any spelling; an unknown one becomes a note.
    pub executor: String,
    pub model: Option<String>,
    /// The other system's worktree, or the folder that contains it. Forge takes it over only when the user asks for it.
    pub worktree: Option<PathBuf>,
    /// The attempt worked in the user's own checkout.
    pub in_place: bool,
    pub created_at: Millis,
    pub updated_at: Millis,
    pub runs: Vec<OldRun>,
    pub merges: Vec<OldMerge>,
    /// What the user had written and not sent.
    pub draft: Option<String>,
}

#[derive(Debug)]
pub struct OldRun {
    pub key: String,
    pub id: Option<RunId>,
    pub reason: RunReason,
    /// The action as it was stored; an unreadable one is made again from `prompt` and the attempt's executor.
    pub action: Option<serde_json::Value>,
    /// `Running` becomes `Killed`: the process belongs to nobody any more.
    pub status: RunStatus,
    pub exit_code: Option<i32>,
    pub dropped: bool,
    /// The id by which the agent resumes its conversation.
    pub session_id: Option<String>,
    pub prompt: Option<String>,
    pub summary: Option<String>,
    pub before_head: Option<String>,
    pub after_head: Option<String>,
    pub started_at: Millis,
    pub completed_at: Option<Millis>,
    pub log: Option<LogSource>,
}

#[derive(Debug)]
pub struct OldMerge {
    pub key: String,
    pub id: Option<MergeId>,
    pub target_branch: String,
    pub created_at: Millis,
    pub landing: Landing,
}

/// How work landed or is about to.
#[derive(Debug)]
pub enum Landing {
    Direct { merge_commit: String },
    Pull(PrInfo),
}

#[derive(Debug)]
pub struct OldTag {
    pub id: Option<TagId>,
    pub name: String,
    pub content: String,
    pub created_at: Millis,
    pub updated_at: Millis,
}

#[derive(Debug)]
pub struct OldTemplate {
    pub id: Option<TemplateId>,
    pub title: String,
    pub description: Option<String>,
    pub name: String,
    pub created_at: Millis,
    pub updated_at: Millis,
}

/// One step of an old log. Its text is stored as it is, with or without an end of line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldLine {
    pub voice: Voice,
    /// Without a time the run's start is taken.
    pub at: Option<Millis>,
    pub text: String,
}

impl OldLine {
    /// A piece of a log as text, after a remark when some of its bytes are not text. `remarked` says that there was a
    /// remark already.
    pub fn text_of(bytes: &[u8], remarked: &mut bool) -> (String, Option<OldLine>) {
        let text = String::from_utf8_lossy(bytes);
        let is_remark = matches!(text, Cow::Owned(_)) && !std::mem::replace(remarked, true);
        let remark = "Some bytes of this log are not UTF-8 text; each is shown as \u{fffd}\n";
        let remark = OldLine { voice: Voice::Note, at: None, text: remark.to_owned() };
        (text.into_owned(), is_remark.then_some(remark))
    }
}

/// Who said it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voice {
    Stdout,
    Stderr,
    /// The prompt of the agent.
    Stdin,
    /// A remark by the importer.
    Note,
}

type Pull = dyn FnMut() -> Result<Option<Vec<OldLine>>, String> + Send;

/// Where the lines of a log come from, a few at a time.
pub struct LogSource {
    /// Never waited for: the lock only lets a bundle be lent to other threads.
    pull: Mutex<Box<Pull>>,
    /// The size of the log in its source, as far as known.
    pub bytes: u64,
}

impl LogSource {
    /// `pull` returns the next lines and at the end `None`; it may block.
    pub fn new(
        bytes: u64,
        pull: impl FnMut() -> Result<Option<Vec<OldLine>>, String> + Send + 'static,
    ) -> Self {
        Self { pull: Mutex::new(Box::new(pull)), bytes }
    }

    /// A log that is in memory already.
    pub fn lines(lines: Vec<OldLine>) -> Self {
        let bytes = lines.iter().map(|line| line.text.len() as u64).sum();
        let mut rest = Some(lines);
        Self::new(bytes, move || Ok(rest.take()))
    }

    pub fn pull(&mut self) -> Result<Option<Vec<OldLine>>, String> {
        self.pull.get_mut().unwrap_or_else(PoisonError::into_inner)()
    }
}

impl fmt::Debug for LogSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LogSource({} bytes)", self.bytes)
    }
}

/// Whether an import only reports what it would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportMode {
    DryRun,
    Apply,
}

/// Asks the server to read another system's data.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ImportRequest {
    /// Which system it is.
    #[schemars(regex(pattern = "^(vibe-kanban|automagik-forge|genie)$"))]
    pub kind: String,
    /// The file on the server's machine; without it the usual places are searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Reports what would happen and changes nothing.
    #[serde(default)]
    pub dry_run: bool,
    /// Only the project of this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    #[serde(default)]
    pub worktrees: OldWorktrees,
}

/// What happens to worktrees of the other system that still exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OldWorktrees {
    /// They are listed and stay the other system's; nothing starts in them.
    #[default]
    Leave,
    /// They become Forge's, with everything in them.
    Adopt,
}

/// What an import did, or would do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportReport {
    pub source: String,
    /// The file that was read.
    pub path: Option<String>,
    pub dry_run: bool,
    pub projects: Vec<ImportedProject>,
    pub tags: Tally,
    /// Templates that belong to no project.
    pub templates: Tally,
    pub skipped: Vec<Skipped>,
    /// Notes for people, in sentences.
    pub notes: Vec<String>,
    /// Where every attempt of the source is now.
    pub attempts: Vec<AttemptLink>,
}

impl ImportReport {
    /// Whether Forge has or shows anything new.
    pub fn has_news(&self) -> bool {
        let counts = |project: &ImportedProject| {
            [
                project.tasks,
                project.attempts,
                project.runs,
                project.merges,
                project.images,
                project.templates,
                project.agents,
            ]
        };
        let tallies = self.projects.iter().flat_map(counts).chain([self.tags, self.templates]);
        tallies.into_iter().any(|tally| tally.new > 0 || tally.changed > 0)
            || self.projects.iter().any(|project| project.standing == ImportStanding::New)
    }
}

/// What became of one project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedProject {
    pub id: ProjectId,
    pub name: String,
    pub git_repo_path: String,
    pub standing: ImportStanding,
    pub tasks: Tally,
    pub attempts: Tally,
    pub runs: Tally,
    pub merges: Tally,
    pub images: Tally,
    pub templates: Tally,
    #[serde(default)]
    pub agents: Tally,
    /// Size of the logs that were taken, as they were stored in the source.
    pub log_bytes: u64,
}

/// How a project of the source corresponds to one of Forge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ImportStanding {
    New,
    /// Forge already works in that repository; the tasks are added there.
    Merged,
    /// It was imported before.
    Known,
}

/// How many of a kind there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ImportTally")]
pub struct Tally {
    pub new: u64,
    /// Here since an earlier import, and updated.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub changed: u64,
    /// Already here.
    pub known: u64,
    pub skipped: u64,
}

impl Tally {
    /// Something that was counted as known is updated.
    pub fn follow(&mut self) {
        self.known = self.known.saturating_sub(1);
        self.changed += 1;
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Something that was not imported, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ImportSkipped")]
pub struct Skipped {
    /// `project`, `task`, `attempt`, `run`, `merge`, `image`, `tag`, `template` or `log`.
    pub kind: String,
    pub key: String,
    pub name: String,
    pub reason: String,
}

/// Which attempt an attempt of the source is now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ImportedAttempt")]
pub struct AttemptLink {
    pub key: String,
    pub attempt_id: AttemptId,
    pub task_id: TaskId,
    pub project_id: ProjectId,
}
