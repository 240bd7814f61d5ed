//! What a bead and its task have to do with each other: which of the two follows the other, and how.
//!
//! Invariants: pure; only what changed since both were last the same is carried over, so nothing goes back and forth.

use forge_fleet::beads::{Bead, Status, TITLE_MAX, Time};
use forge_types::{Millis, Task, TaskStatus};
use sha2::{Digest, Sha256};

use crate::dispatch::prompt;

/// How a reason begins that says that nothing was done. In lower case, without the signs between words.
const IN_VAIN: [&str; 9] = [
    "wontfix",
    "won t fix",
    "canceled",
    "cancelled",
    "duplicate",
    "obsolete",
    "not planned",
    "abandoned",
    "superseded",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Bead,
    Task,
}

/// What people read of a bead or a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Text {
    pub title: String,
    pub description: Option<String>,
}

impl Text {
    pub fn of_bead(bead: &Bead) -> Self {
        Self { title: bead.title.clone(), description: prompt::description(bead) }
    }

    pub fn of_task(task: &Task) -> Self {
        let description = task.description.as_deref().map(str::trim).filter(|text| !text.is_empty());
        Self { title: task.title.clone(), description: description.map(str::to_owned) }
    }

    /// Title and description that a bead gets when it follows the task. What the bead says in fields of its own stays there.
    pub fn for_bead(&self, bead: &Bead) -> (String, String) {
        let own = prompt::sections(bead);
        let mut text = self.description.as_deref().unwrap_or_default();
        for section in own.iter().rev() {
            text = text.strip_suffix(section.as_str()).map_or(text, str::trim_end);
        }
        (cut_title(&self.title), text.to_owned())
    }

    /// Whether the bead says already what it would get from this text.
    pub fn is_in(&self, bead: &Bead) -> bool {
        let (title, description) = self.for_bead(bead);
        bead.title == title && bead.description.as_deref().unwrap_or_default().trim() == description
    }

    pub fn mark(&self) -> String {
        let mut digest = Sha256::new();
        digest.update(self.title.as_bytes());
        digest.update([0]);
        digest.update(self.description.as_deref().unwrap_or_default().as_bytes());
        digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Beads have shorter titles than tasks, and never an empty one.
pub(super) fn cut_title(title: &str) -> String {
    let cut: String = title.chars().take(TITLE_MAX).collect();
    if cut.trim().is_empty() { "(no title)".to_owned() } else { cut }
}

/// What is to be done about two texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextStep {
    None,
    /// The other side changed; this one follows.
    Follow(Side),
    /// Both changed. This side follows, and what it said is kept.
    GiveWay(Side),
}

/// `last` are the marks of the bead and of the task when they were the same.
pub(super) fn compare_texts(bead: &Bead, task: &Task, last: Option<(&str, &str)>, newer: Side) -> TextStep {
    let (of_bead, of_task) = (Text::of_bead(bead), Text::of_task(task));
    if of_bead == of_task || of_task.is_in(bead) {
        return TextStep::None;
    }
    let bead_is_new = last.is_none_or(|(bead, _)| bead != of_bead.mark());
    let task_is_new = last.is_none_or(|(_, task)| task != of_task.mark());
    match (bead_is_new, task_is_new, newer) {
        (false, false, _) => TextStep::None,
        (true, false, _) => TextStep::Follow(Side::Task),
        (false, true, _) => TextStep::Follow(Side::Bead),
        (true, true, Side::Bead) => TextStep::GiveWay(Side::Task),
        (true, true, Side::Task) => TextStep::GiveWay(Side::Bead),
    }
}

/// How far a bead is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Open,
    Taken,
    Done,
    /// Closed without being done.
    Dropped,
}

impl Stage {
    pub fn of(bead: &Bead) -> Self {
        match bead.status() {
            Status::InProgress | Status::Hooked => Stage::Taken,
            Status::Closed | Status::Tombstone => match is_in_vain(bead.close_reason.as_deref()) {
                true => Stage::Dropped,
                false => Stage::Done,
            },
            _ => Stage::Open,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Stage::Open => "open",
            Stage::Taken => "taken",
            Stage::Done => "done",
            Stage::Dropped => "dropped",
        }
    }

    pub fn task_status(self) -> TaskStatus {
        match self {
            Stage::Open => TaskStatus::Todo,
            Stage::Taken => TaskStatus::InProgress,
            Stage::Done => TaskStatus::Done,
            Stage::Dropped => TaskStatus::Cancelled,
        }
    }

    fn is_closed(self) -> bool {
        matches!(self, Stage::Done | Stage::Dropped)
    }
}

fn is_in_vain(reason: Option<&str>) -> bool {
    let reason = reason.unwrap_or_default().to_lowercase();
    let words: Vec<&str> =
        reason.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let said = words.join(" ");
    let said = said.strip_prefix("closed as ").unwrap_or(&said);
    IN_VAIN
        .iter()
        .any(|word| said.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')))
}

/// What is to be done about how far both are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatusStep {
    None,
    /// The task gets this status.
    Task(TaskStatus),
    /// The bead gets this stage.
    Bead(Stage),
}

/// What is known of a pair besides its two statuses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circumstances<'a> {
    /// The words for both when they agreed last.
    pub last: Option<(&'a str, &'a str)>,
    pub newer: Side,
    /// Somebody has the bead through Forge.
    pub is_leased: bool,
    /// The dispatcher closed it; its branch may still wait for review.
    pub is_settled: bool,
}

pub(super) fn compare_statuses(stage: Stage, status: TaskStatus, about: Circumstances<'_>) -> StatusStep {
    if about.is_leased {
        // Whoever gave it out decides about it; only that it is at work may be seen on the board.
        return match (stage, status) {
            (Stage::Taken, TaskStatus::Todo) => StatusStep::Task(TaskStatus::InProgress),
            _ => StatusStep::None,
        };
    }
    if is_agreed(stage, status, about.is_settled) {
        return StatusStep::None;
    }
    let bead_is_new = about.last.is_none_or(|(bead, _)| bead != stage.as_str());
    let task_is_new = about.last.is_none_or(|(_, task)| task != status.as_str());
    if status == TaskStatus::InReview && stage == Stage::Open && task_is_new {
        // The agent failed: the bead waits for the next try, and its task for a look.
        return StatusStep::None;
    }
    match (bead_is_new, task_is_new, about.newer) {
        (false, false, _) => StatusStep::None,
        (true, false, _) | (true, true, Side::Bead) => StatusStep::Task(stage.task_status()),
        (false, true, _) | (true, true, Side::Task) => {
            wanted(status).map_or(StatusStep::None, StatusStep::Bead)
        }
    }
}

/// The stage that a task asks of its bead, if it asks.
fn wanted(status: TaskStatus) -> Option<Stage> {
    match status {
        TaskStatus::Todo => Some(Stage::Open),
        TaskStatus::InProgress => Some(Stage::Taken),
        TaskStatus::Done => Some(Stage::Done),
        TaskStatus::Cancelled => Some(Stage::Dropped),
        TaskStatus::InReview | TaskStatus::Agent | TaskStatus::Archived => None,
    }
}

pub(super) fn is_agreed(stage: Stage, status: TaskStatus, is_settled: bool) -> bool {
    match status {
        TaskStatus::Agent | TaskStatus::Archived => true,
        TaskStatus::Todo => stage == Stage::Open,
        TaskStatus::InProgress => stage == Stage::Taken,
        TaskStatus::InReview => stage == Stage::Taken || (stage == Stage::Done && is_settled),
        // The reason for which a bead was closed is kept, whichever it is.
        TaskStatus::Done | TaskStatus::Cancelled => stage.is_closed(),
    }
}

/// Which of both was changed last; the bead where that is unknown.
pub(super) fn newer(bead: &Bead, task: &Task) -> Side {
    let bead = bead.updated_at.as_ref().and_then(Time::at).map(|at| Millis(at.as_millisecond()));
    if bead.is_some_and(|at| at < task.updated_at) { Side::Task } else { Side::Bead }
}

#[cfg(test)]
mod tests;
