//! Messages that come in, and effects that go out.

use crossterm::event::KeyEvent;
use forge_client::Error;
pub(crate) use forge_client::Method;
use forge_types::{Alert, AlertSettings, Millis, NormalizedEntry, Project, Routing, TaskSummary};
use serde_json::Value;

use crate::model::{Attempt, Bead, Changed, Means, Question, Usage, Worker};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Message {
    Key(KeyEvent),
    Paste(String),
    Resize(u16, u16),
    Tick(Millis),
    /// The event stream is open.
    Up,
    Away(String),
    Event(Event),
    Loaded(Box<Loaded>),
    Failed(Topic, Error),
    Log(LogNews),
    /// A request that changes something has ended.
    Done(Call, Result<Value, Error>),
    Peeked {
        worker: String,
        screen: Result<String, Error>,
    },
    /// The terminal is ours again.
    Returned(Result<(), String>),
    Leave,
}

/// A change from the server's event log.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Event {
    Task(Box<TaskSummary>),
    TaskGone(String),
    Run(RunNews),
    AttemptGone(String),
    Approval,
    Worker(Box<forge_types::Worker>),
    WorkerGone(String),
    Alert(Box<Alert>),
    Routing(Box<Routing>),
}

/// As much of a run as the lists need.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
pub(crate) struct RunNews {
    pub id: String,
    pub task_attempt_id: Option<String>,
    pub run_reason: String,
    pub status: String,
}

impl RunNews {
    pub(crate) fn is_agent(&self) -> bool {
        self.run_reason == "codingagent"
    }
}

/// A list that can be read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Topic {
    Projects,
    Attempts,
    Tasks,
    Questions,
    Beads,
    Workers,
    Alerts,
    Routing,
    Usage,
    Settings,
    Means,
}

impl Topic {
    pub(crate) const ALL: [Topic; 11] = [
        Topic::Projects,
        Topic::Attempts,
        Topic::Tasks,
        Topic::Questions,
        Topic::Beads,
        Topic::Workers,
        Topic::Alerts,
        Topic::Routing,
        Topic::Usage,
        Topic::Settings,
        Topic::Means,
    ];
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Loaded {
    Projects(Vec<Project>),
    Attempts(Vec<Attempt>),
    Tasks(Vec<TaskSummary>),
    Questions(Vec<Question>),
    Beads(Vec<Bead>),
    Workers(Vec<Worker>),
    Alerts(Vec<Alert>),
    Routing(Vec<Routing>),
    Usage(Usage),
    Settings(AlertSettings),
    Means(Means),
}

/// News of the attempt whose log is shown.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LogNews {
    /// The log starts, or starts over.
    Begun {
        attempt: String,
        run: Option<RunNews>,
    },
    Entries {
        attempt: String,
        /// By run and index.
        entries: Vec<((usize, usize), Option<NormalizedEntry>)>,
    },
    Ended {
        attempt: String,
    },
    Changes {
        attempt: String,
        files: Vec<(String, Option<Changed>)>,
    },
    Failed {
        attempt: String,
        why: String,
    },
}

/// Work for the loop outside `update`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Effect {
    Load(Topic),
    /// Follows the log of this attempt from its beginning; none stops following.
    Follow(Option<String>),
    Call(Call),
    /// Reads the screen of this worker repeatedly; none stops reading.
    Peek(Option<String>),
    Attach(Attach),
    Browse(String),
    Repaint,
    /// The terminal's bell.
    Ring,
    Quit,
}

/// Hands the terminal to a `forge` command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attach {
    pub args: Vec<String>,
    /// Its output stays on the screen until the person presses Enter.
    pub is_read: bool,
}

/// A request that changes something.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    pub method: Method,
    pub path: String,
    /// `null` when there is none.
    pub body: Value,
    /// The notice after a success.
    pub done: String,
    pub reload: Vec<Topic>,
}

/// The result of an update.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Outcome {
    pub effects: Vec<Effect>,
    /// Something visible has changed.
    pub redraw: bool,
}

impl Outcome {
    pub(crate) fn nothing() -> Self {
        Self::default()
    }

    pub(crate) fn redraw() -> Self {
        Self { effects: Vec::new(), redraw: true }
    }

    pub(crate) fn with(mut self, effect: Effect) -> Self {
        self.effects.push(effect);
        self
    }
}
