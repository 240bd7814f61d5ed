//! One task of a batch, from the file to its end.

use std::time::{Duration, Instant};

use forge_types::wire::{AgentProfiles, AttemptDiff};
use forge_types::{AttemptId, AttemptStatus, BranchInfo, ProfileId, ProjectId, TaskId};
use serde_json::{Value, json};

use super::file::Item;
use crate::command::diff;
use crate::figures::clock;
use crate::reference::short;
use crate::transcript::Ink;

pub struct Job {
    /// Its place in the file.
    pub place: String,
    pub title: String,
    description: Option<String>,
    pub profile: ProfileId,
    pub base: Option<String>,
    labels: Vec<String>,
    pub state: State,
}

pub enum State {
    Waiting,
    /// The server was asked to start it.
    Starting,
    Working {
        begun: Begun,
    },
    Ended {
        begun: Begun,
        end: End,
    },
    Refused {
        reason: String,
    },
}

#[derive(Clone)]
pub struct Begun {
    pub task: TaskId,
    pub attempt: AttemptId,
    pub at: Instant,
}

pub struct End {
    /// `None` when the attempt was deleted.
    pub status: Option<AttemptStatus>,
    pub took: Duration,
    pub change: Option<AttemptDiff>,
    pub cost_usd: Option<f64>,
}

impl Job {
    pub fn of(item: Item, usual: &ProfileId, base: Option<&str>) -> Self {
        let profile = item.profile(usual);
        let (title, description) = item.describe(profile.executor);
        let base = item.base.or_else(|| base.map(str::to_owned));
        Self {
            place: item.place,
            title,
            description,
            profile,
            base,
            labels: item.labels,
            state: State::Waiting,
        }
    }

    /// What the server would refuse: a branch or a variant that does not exist.
    pub fn mistakes(&self, branches: Option<&[BranchInfo]>, profiles: &AgentProfiles) -> Vec<String> {
        let mut mistakes = Vec::new();
        if let (Some(base), Some(branches)) = (&self.base, branches)
            && !branches.iter().any(|branch| branch.name == *base)
        {
            mistakes.push(format!("{}: base: there is no branch '{base}'", self.place));
        }
        let known = profiles.executors.get(self.profile.executor.as_str());
        if let (Some(variant), Some(known)) = (&self.profile.variant, known)
            && !known.contains_key(&forge_types::canonical_variant(variant))
        {
            let names: Vec<&str> = known.keys().map(String::as_str).collect();
            let (place, executor, names) = (&self.place, self.profile.executor, names.join(", "));
            mistakes.push(format!("{place}: {executor} has no variant '{variant}'; it has {names}"));
        }
        mistakes
    }

    /// The request to the server.
    pub fn request(&self, project: ProjectId) -> Value {
        json!({
            "task": {
                "project_id": project,
                "title": self.title,
                "description": self.description,
                "labels": self.labels,
            },
            "executor_profile_id": self.profile,
            "base_branch": self.base,
        })
    }

    pub fn attempt(&self) -> Option<&Begun> {
        match &self.state {
            State::Working { begun } | State::Ended { begun, .. } => Some(begun),
            State::Waiting | State::Starting | State::Refused { .. } => None,
        }
    }

    pub fn is_over(&self) -> bool {
        matches!(self.state, State::Ended { .. } | State::Refused { .. })
    }

    pub fn is_completed(&self) -> bool {
        matches!(&self.state, State::Ended { end, .. } if end.status == Some(AttemptStatus::Completed))
    }

    pub fn short(&self) -> String {
        self.attempt().map_or_else(|| "-".to_owned(), |begun| short(begun.attempt))
    }

    /// Its state in one word.
    pub fn word(&self) -> (Ink, &'static str) {
        match &self.state {
            State::Waiting => (Ink::Dim, "waiting"),
            State::Starting => (Ink::Dim, "starting"),
            State::Working { .. } => (Ink::Cyan, "working"),
            State::Refused { .. } => (Ink::Red, "refused"),
            State::Ended { end, .. } => match end.status {
                Some(AttemptStatus::Completed) => (Ink::Green, "completed"),
                Some(AttemptStatus::Failed) => (Ink::Red, "failed"),
                Some(_) => (Ink::Yellow, "stopped"),
                None => (Ink::Yellow, "deleted"),
            },
        }
    }

    pub fn took(&self) -> Option<Duration> {
        match &self.state {
            State::Working { begun } => Some(begun.at.elapsed()),
            State::Ended { end, .. } => Some(end.took),
            _ => None,
        }
    }

    /// What it changed, or why it was not started.
    pub fn outcome(&self) -> String {
        match &self.state {
            State::Ended { end, .. } => end.change.as_ref().map_or_else(String::new, diff::words),
            State::Refused { reason } => reason.clone(),
            _ => String::new(),
        }
    }

    fn end(&self) -> Option<&End> {
        if let State::Ended { end, .. } = &self.state { Some(end) } else { None }
    }

    /// A row of the summary.
    pub fn row(&self) -> Vec<(Ink, String)> {
        let dash = |text: Option<String>| {
            (Ink::Plain, text.filter(|text| !text.is_empty()).unwrap_or("-".to_owned()))
        };
        let (ink, word) = self.word();
        let cost = self.end().and_then(|end| end.cost_usd).map(|cost| format!("${cost:.2}"));
        vec![
            (Ink::Plain, self.short()),
            (ink, word.to_owned()),
            dash(self.took().map(clock)),
            dash(Some(self.outcome())),
            dash(cost),
            (Ink::Plain, self.title.clone()),
        ]
    }

    pub fn plan(&self) -> Value {
        json!({
            "title": self.title, "description": self.description, "executor_profile_id": self.profile,
            "base_branch": self.base, "labels": self.labels,
        })
    }

    pub fn object(&self) -> Value {
        let (begun, end) = (self.attempt(), self.end());
        let change = end.and_then(|end| end.change.as_ref());
        let reason = if let State::Refused { reason } = &self.state { Some(reason) } else { None };
        json!({
            "title": self.title,
            "labels": self.labels,
            "task_id": begun.map(|begun| &begun.task),
            "attempt_id": begun.map(|begun| &begun.attempt),
            "status": self.word().1,
            "error": reason,
            "duration_ms": self.took().map(|took| u64::try_from(took.as_millis()).unwrap_or(u64::MAX)),
            "files_changed": change.map(|change| change.files_changed),
            "additions": change.map(|change| change.additions),
            "deletions": change.map(|change| change.deletions),
            "cost_usd": end.and_then(|end| end.cost_usd),
        })
    }
}
