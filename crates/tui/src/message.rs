//! What comes in from outside, and what is to be done there.

use crossterm::event::KeyEvent;
use forge_client::Error;
pub use forge_client::Method;
use forge_types::{Alert, AlertSettings, Millis, NormalizedEntry, Project, Routing, TaskSummary};
use serde_json::Value;

use crate::model::{Attempt, Bead, Changed, Means, Question, Usage, Worker};

#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    Key(KeyEvent),
    Paste(String),
    Resize(u16, u16),
    Tick(Millis),
    /// Events flow.
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

/// What the event log tells.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
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
pub struct RunNews {
    pub id: String,
    pub task_attempt_id: Option<String>,
    pub run_reason: String,
    pub status: String,
}

impl RunNews {
    pub fn is_agent(&self) -> bool {
        self.run_reason == "codingagent"
    }
}

/// What can be read anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Topic {
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
    pub const ALL: [Topic; 11] = [
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
pub enum Loaded {
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

/// What is told of the attempt whose log is shown.
#[derive(Clone, Debug, PartialEq)]
pub enum LogNews {
    /// The log begins, again if it was there before.
    Begun {
        attempt: String,
        run: Option<RunNews>,
    },
    Entries {
        attempt: String,
        /// By run and place.
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

/// What the outside is asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    Load(Topic),
    /// Shows the log of this attempt from its beginning; none stops that.
    Follow(Option<String>),
    Call(Call),
    /// Reads the screen of this worker again and again; none stops that.
    Peek(Option<String>),
    Attach(Attach),
    Browse(String),
    Repaint,
    /// The terminal's bell.
    Ring,
    Quit,
}

/// The terminal is given to a command of our own program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attach {
    pub args: Vec<String>,
    /// What it wrote is to be read before the dashboard comes back.
    pub is_read: bool,
}

/// A request that changes something.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub method: Method,
    pub path: String,
    /// `null` when there is none.
    pub body: Value,
    /// What is said when it went well.
    pub done: String,
    pub reload: Vec<Topic>,
}

/// What an update comes to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    pub effects: Vec<Effect>,
    /// Something that is shown has changed.
    pub redraw: bool,
}

impl Outcome {
    pub fn nothing() -> Self {
        Self::default()
    }

    pub fn redraw() -> Self {
        Self { effects: Vec::new(), redraw: true }
    }

    pub fn with(mut self, effect: Effect) -> Self {
        self.effects.push(effect);
        self
    }
}
