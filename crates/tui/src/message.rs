//! Messages that come in, and effects that go out.

use crossterm::event::KeyEvent;
use forge_client::Error;
pub(crate) use forge_client::Method;
use forge_types::wire::{ChangedFile, ExecutionProcess, ListedWorker, PendingApproval};
use forge_types::{
    Alert, AlertSettings, AttemptId, ListedAttempt, Millis, NormalizedEntry, Project, Routing, RunId, TaskId,
    TaskSummary, Worker, WorkerId,
};
use serde_json::Value;

use crate::model::{Bead, Means, Usage};

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
    /// This many items of a list cannot be read by this version.
    LeftOut(Topic, usize),
    Log(AttemptId, LogNews),
    /// A request that changes something has ended.
    Done(Call, Result<(), Error>),
    Peeked {
        worker: WorkerId,
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
    TaskGone(TaskId),
    Run(Box<ExecutionProcess>),
    AttemptGone(AttemptId),
    Worker(Box<Worker>),
    WorkerGone(WorkerId),
    Alert(Box<Alert>),
    Routing(Box<Routing>),
    /// A list has changed; what is new in it is not known.
    Changed(Topic),
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
    Attempts(Vec<ListedAttempt>),
    Tasks(Vec<TaskSummary>),
    Questions(Vec<PendingApproval>),
    Beads(Vec<Bead>),
    Workers(Vec<ListedWorker>),
    Alerts(Vec<Alert>),
    Routing(Vec<Routing>),
    Usage(Usage),
    Settings(AlertSettings),
    Means(Means),
}

/// News of an attempt's log.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LogNews {
    /// The log starts, or starts over, and this run is the newest.
    Begun(Option<RunId>),
    /// By run and index.
    Entries(Vec<((usize, usize), Option<NormalizedEntry>)>),
    Ended,
    /// By path.
    Changes(Vec<(String, Option<ChangedFile>)>),
    Failed(Error),
}

/// Work for the loop outside `update`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Effect {
    Load(Topic),
    /// Follows the log of this attempt from its beginning; none stops following.
    Follow(Option<AttemptId>),
    Call(Call),
    /// Reads the screen of this worker repeatedly; none stops reading.
    Peek(Option<WorkerId>),
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
