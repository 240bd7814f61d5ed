//! Everything that the screen shows, and nothing else.
//!
//! Invariant: the state changes only in `update`; drawing reads it.

use forge_types::{Millis, ProjectId};
use serde_json::Value;

use crate::bell::Bell;
use crate::field::Field;
use crate::log::Log;
use crate::message::Call;
use crate::model::Data;
use crate::theme::Theme;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
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
    pub const ALL: [View; 8] = [
        View::Overview,
        View::Attempts,
        View::Tasks,
        View::Beads,
        View::Workers,
        View::Costs,
        View::Routing,
        View::Alerts,
    ];

    pub fn title(self) -> &'static str {
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

    /// Whether the selected row is told in full below the list.
    pub fn has_detail(self) -> bool {
        matches!(self, View::Tasks | View::Beads | View::Workers | View::Routing | View::Alerts)
    }

    pub fn step(self, by: usize) -> View {
        View::ALL[(self as usize + by) % View::ALL.len()]
    }
}

/// What a row is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    Question(String),
    Attempt(String),
    Task(String),
    Bead { project: Option<ProjectId>, id: String },
    Worker(String),
    Spent(String),
    Routing(String),
    Alert(String),
}

/// How a list is looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Look {
    /// The row by what it is, so that it stays selected wherever it moves.
    pub selected: Option<Subject>,
    /// Where it was, for the time when it is gone.
    pub index: usize,
    pub filter: String,
    /// A column's number.
    pub sort: Option<usize>,
    pub reversed: bool,
    /// Rows of the detail that are above the screen.
    pub scroll: usize,
}

/// How the server stands.
#[derive(Clone, Debug, PartialEq)]
pub enum Link {
    Connecting,
    Up,
    Away { since: Millis, why: String },
}

/// What was said last about something that was done or failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub is_bad: bool,
    pub text: String,
}

/// What stands before the view and gets the keys.
#[derive(Clone, Debug, PartialEq)]
pub enum Overlay {
    Help {
        scroll: usize,
    },
    Palette {
        field: Field,
        chosen: usize,
    },
    /// A line to type, at the bottom.
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
        worker: String,
        text: Option<String>,
    },
}

/// What becomes of a typed line.
#[derive(Clone, Debug, PartialEq)]
pub enum Purpose {
    Filter,
    FollowUp { attempt: String },
    Deny { question: String },
    Send { worker: String },
    Close { project: Option<ProjectId>, bead: String },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    pub title: &'static str,
    pub fields: Vec<Input>,
    pub focus: usize,
    pub makes: Makes,
    /// Why it was not taken.
    pub complaint: Option<String>,
}

/// One line of a form.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// The key in the request.
    pub key: &'static str,
    pub label: &'static str,
    pub hint: &'static str,
    pub required: bool,
    pub field: Field,
    /// What can be chosen, by the name that is shown.
    pub choices: Vec<(String, Value)>,
    /// Anything may be typed; the choices are suggestions.
    pub is_free: bool,
}

impl Input {
    /// The next or the previous choice; from typed text the first that has it.
    pub fn choose(&mut self, is_next: bool) {
        let (count, text) = (self.choices.len(), self.field.text());
        if count == 0 {
            return;
        }
        let at = match self.choices.iter().position(|(name, _)| name == text) {
            Some(at) if is_next => (at + 1) % count,
            Some(at) => (at + count - 1) % count,
            None => self.choices.iter().position(|(name, _)| name.contains(text)).unwrap_or(0),
        };
        self.field = Field::new(&self.choices[at].0);
    }
}

/// What a form is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Makes {
    Task,
    Worker,
    Bead,
    /// Another bead for this worker.
    Reassign(String),
}

/// What costs are summed up by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    #[default]
    Day,
    Model,
    Worker,
}

#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Where the server is.
    pub base: String,
    pub theme: Theme,
    /// Workers have signs instead of marks.
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
    /// The log or the detail has the whole screen.
    pub zoomed: bool,
    pub grouping: Grouping,
    /// Requests that change something and are under way.
    pub pending: usize,
}

impl State {
    pub fn new(base: &str, theme: Theme, now: Millis) -> Self {
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

    pub fn look(&self) -> &Look {
        &self.looks[self.view as usize]
    }

    pub fn look_mut(&mut self) -> &mut Look {
        &mut self.looks[self.view as usize]
    }

    pub fn say(&mut self, text: impl Into<String>) {
        self.notice = Some(Notice { is_bad: false, text: text.into() });
    }

    pub fn complain(&mut self, text: impl Into<String>) {
        self.notice = Some(Notice { is_bad: true, text: text.into() });
    }
}
