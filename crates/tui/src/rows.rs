//! The lists of all views as rows of cells: filtered, sorted, with one of them selected.
//!
//! Invariant: a view's rows follow from the state alone, so what is drawn and what a key acts on are the same.

mod cells;

use std::cmp::Ordering;

use forge_types::Millis;

use crate::model::{Data, List};
use crate::state::{Grouping, Look, State, Subject, View};
pub use cells::Cell;
use cells::{
    alert_line, alert_row, attempt_line, attempt_row, bead_row, is_open, question_row, routing_row,
    spent_row, task_row, worker_row,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    pub head: &'static str,
    pub is_right: bool,
    /// Gives way when there is little room.
    pub bends: bool,
    /// Is left out before what bends cannot be read any more.
    pub yields: bool,
}

impl Column {
    const fn yielding(self) -> Column {
        Column { yields: true, ..self }
    }
}

const fn column(head: &'static str) -> Column {
    Column { head, is_right: false, bends: false, yields: false }
}

const fn right(head: &'static str) -> Column {
    Column { head, is_right: true, bends: false, yields: false }
}

const fn bending(head: &'static str) -> Column {
    Column { head, is_right: false, bends: true, yields: false }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub subject: Subject,
    pub cells: Vec<Cell>,
    /// The moment whose age the row shows.
    pub at: Option<Millis>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub columns: &'static [Column],
    pub rows: Vec<Row>,
    /// How many there are without the filter.
    pub whole: usize,
    /// The selected row; none when there are no rows.
    pub selected: Option<usize>,
    /// What is said where there are no rows.
    pub empty: &'static str,
}

impl Table {
    pub fn subject(&self) -> Option<&Subject> {
        self.selected.and_then(|at| self.rows.get(at)).map(|row| &row.subject)
    }
}

const OVERVIEW: &[Column] = &[column(""), column("WHAT"), column("ID"), right("AGE"), bending("TITLE")];
const ATTEMPTS: &[Column] = &[
    column(""),
    column("ID"),
    column("STATUS"),
    bending("AGENT").yielding(),
    right("AGE"),
    right("COST"),
    bending("TITLE"),
    bending("BRANCH").yielding(),
];
const TASKS: &[Column] = &[
    column(""),
    column("KIND"),
    column("ID"),
    column("STATUS"),
    right("TRIES"),
    bending("FOR"),
    right("AGE"),
    bending("TITLE"),
];
const WORKERS: &[Column] = &[
    column(""),
    column("ID"),
    column("PHASE"),
    column("HEALTH"),
    bending("MODEL"),
    column("TIER").yielding(),
    right("MB").yielding(),
    right("AGE"),
    bending("WORK"),
];
const COSTS: &[Column] =
    &[bending("DAY / MODEL"), right("RUNS"), right("INPUT"), right("CACHED"), right("OUTPUT"), right("COST")];
const ROUTING: &[Column] = &[
    column(""),
    column("WORK"),
    right("SCORE").yielding(),
    column("TIER"),
    bending("MODEL"),
    column("REASON").yielding(),
    column("OUTCOME"),
    right("COST"),
    right("AGE"),
    bending("TITLE"),
];
const ALERTS: &[Column] = &[
    column(""),
    column("SEVERITY"),
    column("KIND"),
    bending("ABOUT"),
    right("TIMES"),
    right("AGE"),
    bending("MESSAGE"),
];

const UNREAD: &str = "reading …";
const NO_FLEET: &str = "This server does not serve this list; a newer Forge does.";

/// The list of the present view.
pub fn table(state: &State) -> Table {
    let (data, now) = (&state.data, state.now);
    let (columns, rows, empty) = match state.view {
        View::Overview => (
            OVERVIEW,
            overview(data, now),
            or_else(&data.attempts, "Nothing is at work and nothing waits. n gives an agent a task."),
        ),
        View::Attempts => {
            let rows = data.attempts.rows().iter().map(|attempt| attempt_row(attempt, data, now));
            (ATTEMPTS, rows.collect(), or_else(&data.attempts, "No attempt yet. n gives an agent a task."))
        }
        View::Tasks => {
            let tasks = data.tasks.rows().iter().map(|task| task_row(task, data, now));
            let beads = data.beads.rows().iter().map(|bead| bead_row(bead, now));
            (TASKS, tasks.chain(beads).collect(), or_else(&data.tasks, "No task yet. n makes one."))
        }
        View::Workers => {
            let rows = data.workers.rows().iter().map(|worker| worker_row(worker, now));
            (WORKERS, rows.collect(), or_else(&data.workers, "No worker. n starts one."))
        }
        View::Costs => {
            let spent = match state.grouping {
                Grouping::Day => &data.usage.days,
                Grouping::Model => &data.usage.models,
            };
            (COSTS, spent.iter().map(spent_row).collect(), "Nothing was used yet.")
        }
        View::Routing => {
            let rows = data.routing.rows().iter().map(|routing| routing_row(routing, now));
            (ROUTING, rows.collect(), or_else(&data.routing, "No work was routed yet."))
        }
        View::Alerts => {
            let rows = data.alerts.rows().iter().map(|alert| alert_row(alert, now));
            (ALERTS, rows.collect(), or_else(&data.alerts, "No alert. That is good."))
        }
    };
    arrange(columns, rows, empty, state.look())
}

fn or_else<T>(list: &List<T>, empty: &'static str) -> &'static str {
    match list {
        List::Unread => UNREAD,
        List::NotServed => NO_FLEET,
        List::Read(_) => empty,
    }
}

/// What waits for a person first, then what is at work.
fn overview(data: &Data, now: Millis) -> Vec<Row> {
    let questions = data.questions.rows().iter().map(|question| question_row(question, now));
    let alerts = data.alerts.rows().iter().filter(|alert| is_open(alert)).map(|alert| alert_line(alert, now));
    let working = data.attempts.rows().iter().filter(|attempt| attempt.is_live());
    let working = working.map(|attempt| attempt_line(attempt, data, now));
    questions.chain(alerts).chain(working).collect()
}

fn arrange(columns: &'static [Column], mut rows: Vec<Row>, empty: &'static str, look: &Look) -> Table {
    let whole = rows.len();
    let words: Vec<String> = look.filter.split_whitespace().map(str::to_lowercase).collect();
    if !words.is_empty() {
        rows.retain(|row| {
            let text = row.cells.iter().map(|cell| cell.text.to_lowercase()).collect::<Vec<_>>().join(" ");
            words.iter().all(|word| text.contains(word.as_str()))
        });
    }
    if let Some(column) = look.sort {
        // Stable, so that equal ones stay in the order of the server.
        rows.sort_by(|a, b| compare(a.cells.get(column), b.cells.get(column)));
    }
    if look.reversed {
        rows.reverse();
    }
    let kept = look.selected.as_ref().and_then(|wanted| rows.iter().position(|row| row.subject == *wanted));
    let last = rows.len().checked_sub(1);
    let selected = last.map(|last| kept.unwrap_or(look.index.min(last)));
    let empty = if whole > 0 { "No row has these words; Esc takes the filter away." } else { empty };
    Table { columns, rows, whole, selected, empty }
}

fn compare(a: Option<&Cell>, b: Option<&Cell>) -> Ordering {
    match (a, b) {
        (Some(Cell { number: Some(a), .. }), Some(Cell { number: Some(b), .. })) => a.total_cmp(b),
        (Some(a), Some(b)) => a
            .number
            .is_none()
            .cmp(&b.number.is_none())
            .then_with(|| a.text.to_lowercase().cmp(&b.text.to_lowercase())),
        _ => Ordering::Equal,
    }
}
