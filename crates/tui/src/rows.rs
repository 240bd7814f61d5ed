//! The lists of all views as rows of cells: filtered, sorted, with one of them selected.
//!
//! Invariant: a view's rows follow from the state alone, so what is drawn and what a key acts on are the same.

mod cells;
mod detail;
mod fleet;

use std::cmp::Ordering;

use forge_types::Millis;

use crate::model::{Data, List};
use crate::state::{Grouping, Look, State, Subject, View};
pub use cells::Cell;
use cells::{
    attempt_line, attempt_row, model_spent_row, question_row, spent_row, task_row, worker_spent_row,
};
pub use detail::{Fact, detail};
pub use fleet::is_open;
use fleet::{alert_line, alert_row, bead_row, routing_row, worker_row};

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
    /// The heading under which it stands while nothing else was sorted by.
    pub section: Option<&'static str>,
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
    column("ID"),
    column("STATUS"),
    right("TRIES"),
    bending("PROJECT"),
    right("AGE"),
    bending("TITLE"),
];
const BEADS: &[Column] = &[
    column(""),
    column("ID"),
    column("P"),
    column("STATUS"),
    column("TYPE").yielding(),
    bending("WHO"),
    right("AGE"),
    bending("PROJECT").yielding(),
    bending("TITLE"),
];
const WORKERS: &[Column] = &[
    column(""),
    column("ID"),
    column("PHASE"),
    bending("HEALTH"),
    bending("MODEL"),
    column("TIER").yielding(),
    right("MB").yielding(),
    right("AGE"),
    bending("WORK"),
    bending("LAST WORD").yielding(),
];
const DAY_COSTS: &[Column] =
    &[bending("DAY"), right("RUNS"), right("INPUT"), right("CACHED"), right("OUTPUT"), right("COST")];
const MODEL_COSTS: &[Column] = &[
    bending("MODEL"),
    right("RUNS"),
    right("INPUT"),
    right("CACHED"),
    right("OUTPUT"),
    right("COST"),
    right("CACHE HITS").yielding(),
    right("LATENCY").yielding(),
];
const WORKER_COSTS: &[Column] = &[
    bending("WORKER"),
    column("TIER"),
    right("CALLS"),
    right("TOKENS"),
    right("COST"),
    right("TOKENS PER $"),
];
const ROUTING: &[Column] = &[
    column(""),
    column("WORK"),
    right("SCORE").yielding(),
    column("TIER"),
    bending("MODEL"),
    column("REASON").yielding(),
    column("OUTCOME"),
    right("COST"),
    right("EXPECTED").yielding(),
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

const NO_BEADS: &str = "No project has beads. `br init` or `bd init` in a repository begins a list.";
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
            let rows = data.tasks.rows().iter().map(|task| task_row(task, data, now));
            (TASKS, rows.collect(), or_else(&data.tasks, "No task yet. n makes one."))
        }
        View::Beads => {
            let rows = data.beads.rows().iter().map(|bead| bead_row(bead, data, now));
            (BEADS, rows.collect(), or_else(&data.beads, NO_BEADS))
        }
        View::Workers => {
            let rows = data.workers.rows().iter().map(|worker| worker_row(worker, data, now));
            (WORKERS, rows.collect(), or_else(&data.workers, "No worker. n starts one."))
        }
        View::Costs => costs(data, state.grouping),
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

fn costs(data: &Data, grouping: Grouping) -> (&'static [Column], Vec<Row>, &'static str) {
    let (usage, empty) = (&data.usage, "Nothing was used yet.");
    let served = usage.served.rows();
    match grouping {
        Grouping::Day => (DAY_COSTS, usage.days.iter().map(spent_row).collect(), empty),
        Grouping::Model => {
            let rows = usage.models.iter().map(|spent| model_spent_row(spent, served));
            (MODEL_COSTS, rows.collect(), empty)
        }
        Grouping::Worker => {
            let rows = usage.workers.rows().iter().map(worker_spent_row);
            (WORKER_COSTS, rows.collect(), or_else(&usage.workers, "No worker has used anything yet."))
        }
    }
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
    if look.sort.is_some() || look.reversed {
        rows.iter_mut().for_each(|row| row.section = None);
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
