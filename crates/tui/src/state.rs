//! Everything that the screen shows.
//!
//! Invariant: only `update` changes the state; drawing reads it.

use forge_client::Error;
use forge_types::{AlertId, ApprovalId, AttemptId, Millis, ProjectId, RoutingId, TaskId, WorkerId};

use crate::bell::Bell;
use crate::field::Field;
use crate::log::Log;
use crate::message::Call;
use crate::model::Data;
use crate::theme::Theme;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum View {
    #[default]
    Overview,
    Attempts,
    Tasks,
    Beads,
    Workers,
    Costs,
    Routing,
    Alerts,
}

impl View {
    pub(crate) const ALL: [View; 8] = [
        View::Overview,
        View::Attempts,
        View::Tasks,
        View::Beads,
        View::Workers,
        View::Costs,
        View::Routing,
        View::Alerts,
    ];

    pub(crate) fn title(self) -> &'static str {
        match self {
            View::Overview => "Overview",
            View::Attempts => "Attempts",
            View::Tasks => "Tasks",
            View::Beads => "Beads",
            View::Workers => "Workers",
            View::Costs => "Costs",
            View::Routing => "Routing",
            View::Alerts => "Alerts",
        }
    }

    /// Whether details of the selected row are shown below the list.
    pub(crate) fn has_detail(self) -> bool {
        matches!(self, View::Tasks | View::Beads | View::Workers | View::Routing | View::Alerts)
    }

    pub(crate) fn step(self, by: usize) -> View {
        View::ALL[(self as usize + by) % View::ALL.len()]
    }
}

/// What a row is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    Question(ApprovalId),
    Attempt(AttemptId),
    Task(TaskId),
    Bead {
        project: ProjectId,
        id: String,
    },
    Worker(WorkerId),
    /// A day, a model or a worker.
    Spent(String),
    Routing(RoutingId),
    Alert(AlertId),
}

/// Selection, filter and order of a list.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Look {
    /// The selected row by identity, so that it stays selected wherever it moves.
    pub selected: Option<Subject>,
    /// Its last position, for when the row disappears.
    pub index: usize,
    pub filter: String,
    /// A column number.
    pub sort: Option<usize>,
    pub reversed: bool,
    /// Detail rows scrolled off the top.
    pub scroll: usize,
}

/// The connection to the server.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Link {
    Connecting,
    Up,
    Away { since: Millis, why: String },
}

/// The last message about something that was done or failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    pub is_bad: bool,
    pub text: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// What covers the view and receives the keys.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Overlay {
    Help {
        scroll: usize,
    },
    Palette {
        field: Field,
        chosen: usize,
    },
    /// An input line at the bottom.
    Ask {
        label: String,
        purpose: Purpose,
        field: Field,
    },
    Confirm {
        question: String,
        call: Call,
    },
    Form(Form),
    Peek {
        worker: WorkerId,
        text: Option<Result<String, Error>>,
    },
}

/// What a typed line is for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Purpose {
    Filter,
    FollowUp { attempt: AttemptId },
    Deny { question: ApprovalId },
    Send { worker: WorkerId },
    Close { project: ProjectId, bead: String },
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Form {
    pub title: &'static str,
    pub fields: Vec<Input>,
    pub focus: usize,
    pub makes: Makes,
    /// Why it was rejected.
    pub complaint: Option<String>,
}

impl Form {
    /// What was typed or chosen; none if that is empty.
    pub(crate) fn given(&self, slot: Slot) -> Option<&str> {
        let input = self.fields.iter().find(|input| input.slot == slot)?;
        Some(input.field.text().trim()).filter(|text| !text.is_empty())
    }

    /// Says what is wrong, and goes to the field where it is.
    pub(crate) fn reject(&mut self, slot: Slot, why: impl ToString) {
        self.complaint = Some(why.to_string());
        self.focus = self.fields.iter().position(|input| input.slot == slot).unwrap_or(self.focus);
    }
}

/// What a line of a form is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    Project,
    Title,
    Description,
    Agent,
    Kind,
    Urgency,
    WaitsFor,
    Definition,
    Id,
    Launcher,
    Model,
    Tier,
    Workspace,
    Bead,
}

/// One line of a form.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Input {
    pub slot: Slot,
    pub label: &'static str,
    pub hint: &'static str,
    pub required: bool,
    pub field: Field,
    pub choices: Vec<String>,
    /// Any text is allowed; the choices are suggestions.
    pub is_free: bool,
}

impl Input {
    /// Selects the next or previous choice; for typed text, the first that contains it.
    pub(crate) fn choose(&mut self, is_next: bool) {
        let (count, text) = (self.choices.len(), self.field.text());
        if count == 0 {
            return;
        }
        let at = match self.choices.iter().position(|name| name == text) {
            Some(at) if is_next => (at + 1) % count,
            Some(at) => (at + count - 1) % count,
            None => self.choices.iter().position(|name| name.contains(text)).unwrap_or(0),
        };
        self.field = Field::new(&self.choices[at]);
    }
}

/// What a form is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Makes {
    Task,
    Worker,
    Bead,
    /// Another bead for this worker.
    Reassign(WorkerId),
}

/// What costs are grouped by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Grouping {
    #[default]
    Day,
    Model,
    Worker,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct State {
    /// The server's address.
    pub base: String,
    pub theme: Theme,
    /// Whether workers have emoji instead of marks.
    pub emoji: bool,
    pub now: Millis,
    pub size: (u16, u16),
    pub link: Link,
    pub data: Data,
    pub view: View,
    pub looks: [Look; View::ALL.len()],
    pub overlay: Option<Overlay>,
    pub notice: Option<Notice>,
    pub bell: Bell,
    /// The log of the selected attempt.
    pub log: Log,
    /// Whether the log or the details fill the screen.
    pub zoomed: bool,
    pub grouping: Grouping,
    /// Number of changing requests in flight.
    pub pending: usize,
}

impl State {
    pub(crate) fn new(base: &str, theme: Theme, now: Millis) -> Self {
        Self {
            base: base.to_owned(),
            theme,
            emoji: false,
            now,
            size: (80, 24),
            link: Link::Connecting,
            data: Data::default(),
            view: View::default(),
            looks: Default::default(),
            overlay: None,
            notice: None,
            bell: Bell::default(),
            log: Log::default(),
            zoomed: false,
            grouping: Grouping::default(),
            pending: 0,
        }
    }

    pub(crate) fn look(&self) -> &Look {
        &self.looks[self.view as usize]
    }

    pub(crate) fn look_mut(&mut self) -> &mut Look {
        &mut self.looks[self.view as usize]
    }

    pub(crate) fn say(&mut self, text: impl Into<String>) {
        self.notice = Some(Notice { is_bad: false, text: text.into(), hint: None });
    }

    pub(crate) fn complain(&mut self, text: impl Into<String>) {
        self.notice = Some(Notice { is_bad: true, text: text.into(), hint: None });
    }

    /// Shows an error; its message comes after the words of `about`.
    pub(crate) fn complain_of(&mut self, about: &str, error: Error) {
        let text = format!("{about}{}", error.message);
        self.notice = Some(Notice { is_bad: true, text, hint: error.hint });
    }
}
