//! One interface to the beads of a workspace, whatever stores them.
//!
//! Owns the operations and their outcomes. Invariant: an outcome that a caller branches on is a value, not a message;
//! `Claim::Won` is returned only after the bead was read back.

use std::sync::Arc;

use jiff::Timestamp;

use super::bead::{Bead, Status};
use super::cli::CliStore;
use super::error::BeadsError;
use super::jsonl::BeadQueueReader;
use super::local::LocalStore;
use super::ready::Filter;
use super::snapshot::Snapshot;
use super::watch::Watch;

/// How many characters a title may have.
pub const TITLE_MAX: usize = 500;

#[derive(Debug)]
pub enum Store {
    /// The file alone, for reading.
    Jsonl(BeadQueueReader),
    /// A program, for every change, and for reading where the file may be out of date.
    Cli(CliStore),
    /// The file, read and written by Forge.
    Local(LocalStore),
}

#[derive(Debug)]
pub enum Claim {
    Won(Bead),
    AlreadyClaimed {
        by: String,
    },
    NotClaimable {
        status: Status,
    },
    Blocked {
        by: Vec<String>,
    },
    /// The store stayed locked until the wait timed out.
    Retryable(String),
    Fatal(BeadsError),
}

#[derive(Debug)]
pub enum Release {
    Released(Bead),
    /// Somebody else, or nobody, has it: nothing was changed.
    NotHeld {
        by: Option<String>,
    },
}

#[derive(Debug)]
pub enum Close {
    Closed(Bead),
    AlreadyClosed,
    /// It has open blockers or open children: nothing was changed.
    Refused(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Linked {
    Added,
    AlreadyThere,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unlinked {
    Removed,
    /// There is no such dependency.
    NotThere,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewBead {
    pub title: String,
    pub description: Option<String>,
    pub issue_type: String,
    pub priority: i64,
    pub labels: Vec<String>,
    pub parent: Option<String>,
    /// Kind and target of each edge; the new bead is the one that depends.
    pub dependencies: Vec<(String, String)>,
    /// Its id in another system; unique among beads.
    pub external_ref: Option<String>,
}

/// What to change; `None` leaves a field as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    pub title: Option<String>,
    /// An empty one removes it.
    pub description: Option<String>,
    pub priority: Option<i64>,
    pub status: Option<Status>,
    /// Removes the assignee.
    pub unassigned: bool,
}

impl NewBead {
    /// A task of medium priority.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            description: None,
            issue_type: "task".to_owned(),
            priority: 2,
            labels: Vec::new(),
            parent: None,
            dependencies: Vec::new(),
            external_ref: None,
        }
    }

    pub(super) fn check(&self) -> Result<(), BeadsError> {
        check_title(&self.title)?;
        check_word("issue_type", &self.issue_type)?;
        self.labels.iter().try_for_each(|label| check_word("label", label))?;
        self.dependencies.iter().try_for_each(|(kind, _)| check_word("dependency type", kind))?;
        check_priority(self.priority)
    }
}

impl Change {
    pub(super) fn check(&self) -> Result<(), BeadsError> {
        if let Some(status @ (Status::Closed | Status::Tombstone)) = &self.status {
            let allowed = "Forge closes a bead with a reason and never deletes one".to_owned();
            return Err(BeadsError::Invalid { name: "status", value: status.to_string(), allowed });
        }
        self.title.as_deref().map_or(Ok(()), check_title)?;
        self.priority.map_or(Ok(()), check_priority)
    }
}

fn check_title(title: &str) -> Result<(), BeadsError> {
    let length = title.chars().count();
    if (1..=TITLE_MAX).contains(&length) && !title.trim().is_empty() {
        return Ok(());
    }
    let value: String = title.chars().take(60).collect();
    let allowed = format!("a title has 1 to {TITLE_MAX} characters, this one has {length}");
    Err(BeadsError::Invalid { name: "title", value, allowed })
}

fn check_priority(priority: i64) -> Result<(), BeadsError> {
    if (0..=4).contains(&priority) {
        return Ok(());
    }
    let allowed = "a priority is a number from 0, the most urgent, to 4".to_owned();
    Err(BeadsError::Invalid { name: "priority", value: priority.to_string(), allowed })
}

/// Labels and types are written in comma-separated lists, and edge types before a colon.
fn check_word(name: &'static str, word: &str) -> Result<(), BeadsError> {
    // A label may have a colon, as in `forge:attempt-2`: nothing is read before it.
    let is_wrong = |c: char| c == ',' || c.is_whitespace() || c.is_control() || (c == ':' && name != "label");
    if (1..=50).contains(&word.chars().count()) && !word.contains(is_wrong) {
        return Ok(());
    }
    let allowed = "1 to 50 characters are allowed, without spaces, commas or colons".to_owned();
    Err(BeadsError::Invalid { name, value: word.to_owned(), allowed })
}

fn check_actor(actor: &str) -> Result<(), BeadsError> {
    if !actor.trim().is_empty() && !actor.chars().any(char::is_control) {
        return Ok(());
    }
    let allowed = "give a name without control characters, a different one for each worker".to_owned();
    Err(BeadsError::Invalid { name: "actor", value: actor.to_owned(), allowed })
}

impl Claim {
    /// The result of a claim by `actor`, according to the bead read back.
    pub(super) fn judge(bead: Bead, actor: &str) -> Self {
        match bead.assignee() {
            Some(by) if by != actor => Self::AlreadyClaimed { by: by.to_owned() },
            Some(_) if *bead.status() == Status::InProgress => Self::Won(bead),
            _ => Self::NotClaimable { status: bead.status().clone() },
        }
    }
}

impl From<BeadsError> for Claim {
    fn from(error: BeadsError) -> Self {
        match error {
            BeadsError::Busy(why) => Self::Retryable(why),
            other => Self::Fatal(other),
        }
    }
}

impl Store {
    pub async fn snapshot(&self) -> Result<Arc<Snapshot>, BeadsError> {
        match self {
            Self::Jsonl(store) => store.snapshot().await,
            Self::Cli(store) => store.snapshot().await,
            Self::Local(store) => store.file().snapshot().await,
        }
    }

    pub async fn ready(&self, filter: &Filter) -> Result<Vec<Bead>, BeadsError> {
        match self {
            Self::Jsonl(store) => store.ready(filter, Timestamp::now()).await,
            Self::Cli(store) => store.ready(filter).await,
            Self::Local(store) => store.file().ready(filter, Timestamp::now()).await,
        }
    }

    /// The beads with these ids, in their order; one that does not exist is an error.
    pub async fn show(&self, ids: &[&str]) -> Result<Vec<Bead>, BeadsError> {
        match self {
            Self::Jsonl(store) => store.show(ids).await,
            Self::Cli(store) => store.show(ids).await,
            Self::Local(store) => store.file().show(ids).await,
        }
    }

    /// Takes a bead for an actor. Each worker needs a name of its own: to the tools, the name is the worker.
    pub async fn claim(&self, id: &str, actor: &str) -> Claim {
        if let Err(error) = check_actor(actor) {
            return error.into();
        }
        match self {
            Self::Jsonl(store) => Claim::Fatal(store.refuse()),
            Self::Cli(store) => store.claim(id, actor).await,
            Self::Local(store) => store.claim(id, actor).await,
        }
    }

    /// Gives a bead back, if the actor still has it, and says why in a comment.
    pub async fn release(&self, id: &str, actor: &str, comment: &str) -> Result<Release, BeadsError> {
        check_actor(actor)?;
        match self {
            Self::Jsonl(store) => Err(store.refuse()),
            Self::Cli(store) => store.release(id, actor, comment).await,
            Self::Local(store) => store.release(id, actor, comment).await,
        }
    }

    pub async fn close(&self, id: &str, actor: &str, reason: &str) -> Result<Close, BeadsError> {
        check_actor(actor)?;
        match self {
            Self::Jsonl(store) => Err(store.refuse()),
            Self::Cli(store) => store.close(id, actor, reason).await,
            Self::Local(store) => store.close(id, reason).await,
        }
    }

    pub async fn create(&self, new: &NewBead, actor: &str) -> Result<Bead, BeadsError> {
        check_actor(actor)?;
        new.check()?;
        match self {
            Self::Jsonl(store) => Err(store.refuse()),
            Self::Cli(store) => store.create(new, actor).await,
            Self::Local(store) => store.create(new, actor).await,
        }
    }

    /// Makes `id` depend on `on`.
    pub async fn add_dep(&self, id: &str, on: &str, kind: &str, actor: &str) -> Result<Linked, BeadsError> {
        check_actor(actor)?;
        check_word("dependency type", kind)?;
        match self {
            Self::Jsonl(store) => Err(store.refuse()),
            Self::Cli(store) => store.add_dep(id, on, kind, actor).await,
            Self::Local(store) => store.add_dep(id, on, kind, actor).await,
        }
    }

    /// Makes `id` no longer depend on `on`; without a kind in no way.
    pub async fn remove_dep(
        &self,
        id: &str,
        on: &str,
        kind: Option<&str>,
        actor: &str,
    ) -> Result<Unlinked, BeadsError> {
        check_actor(actor)?;
        match self {
            Self::Jsonl(store) => Err(store.refuse()),
            Self::Cli(store) => store.remove_dep(id, on, actor).await,
            Self::Local(store) => store.remove_dep(id, on, kind).await,
        }
    }

    pub async fn comment(&self, id: &str, actor: &str, text: &str) -> Result<(), BeadsError> {
        check_actor(actor)?;
        match self {
            Self::Jsonl(store) => Err(store.refuse()),
            Self::Cli(store) => store.comment(id, actor, text).await,
            Self::Local(store) => store.comment(id, actor, text).await,
        }
    }

    pub async fn update(&self, id: &str, actor: &str, change: &Change) -> Result<Bead, BeadsError> {
        check_actor(actor)?;
        change.check()?;
        match self {
            Self::Jsonl(store) => Err(store.refuse()),
            Self::Cli(store) => store.update(id, actor, change).await,
            Self::Local(store) => store.update(id, change).await,
        }
    }

    /// Whether claims are safe against other programs on this machine without help from Forge.
    pub fn claims_atomically(&self) -> bool {
        match self {
            Self::Jsonl(_) => false,
            Self::Cli(store) => store.claims_atomically(),
            Self::Local(_) => true,
        }
    }

    /// The snapshots from now on. Must be called within a runtime.
    pub fn watch(&self) -> Watch {
        match self {
            Self::Jsonl(store) => Watch::file(store.clone()),
            Self::Cli(store) => store.watch(),
            Self::Local(store) => Watch::file(store.file().clone()),
        }
    }
}
