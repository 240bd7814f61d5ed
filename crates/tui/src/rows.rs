//! The lists of all views: filtered, sorted, with one row selected.
//!
//! Invariant: rows are computed from the state alone, so a key acts on exactly the row that is drawn.

mod cells;
mod columns;
mod detail;
mod fleet;
mod thing;

use std::cmp::Ordering;

use crate::model::{Data, List, is_live};
use crate::state::{Grouping, State, Subject, View};
pub(crate) use cells::Cell;
pub(crate) use columns::Column;
use columns::{
    ALERTS, ATTEMPTS, BEADS, DAY_COSTS, MODEL_COSTS, OVERVIEW, ROUTING, TASKS, WORKER_COSTS, WORKERS,
};
pub(crate) use detail::{Fact, detail};
pub(crate) use fleet::is_open;
pub(crate) use thing::Thing;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Table<'a> {
    pub columns: &'static [Column],
    pub rows: Vec<Thing<'a>>,
    /// Rows are grouped under section headings.
    pub has_sections: bool,
    /// Number of rows without the filter.
    pub whole: usize,
    /// The selected row; none when there are no rows.
    pub selected: Option<usize>,
    /// The text shown when there are no rows.
    pub empty: &'static str,
}

impl Table<'_> {
    pub(crate) fn thing(&self) -> Option<&Thing<'_>> {
        self.selected.and_then(|at| self.rows.get(at))
    }

    pub(crate) fn subject(&self) -> Option<Subject> {
        self.thing().map(Thing::subject)
    }
}

const NO_BEADS: &str = "No project has beads. `forge beads init` in a repository creates a list.";
const UNREAD: &str = "reading …";
const NO_FLEET: &str = "This server does not serve this list; it needs a newer Forge.";

type Lists<'a> = (&'static [Column], Vec<Thing<'a>>, &'static str);

/// The list of the current view.
pub(crate) fn table(state: &State) -> Table<'_> {
    let data = &state.data;
    let lists = match state.view {
        View::Overview => overview(data),
        View::Attempts => {
            list(ATTEMPTS, &data.attempts, Thing::Attempt, "No attempts yet. n gives an agent a task.")
        }
        View::Tasks => list(TASKS, &data.tasks, Thing::Task, "No tasks yet. n creates one."),
        View::Beads => list(BEADS, &data.beads, Thing::Bead, NO_BEADS),
        View::Workers => (WORKERS, thing::workers(data), or_else(&data.workers, "No workers. n starts one.")),
        View::Costs => costs(data, state.grouping),
        View::Routing => list(ROUTING, &data.routing, Thing::Routing, "No work has been routed yet."),
        View::Alerts => list(ALERTS, &data.alerts, Thing::Alert, "No alerts."),
    };
    arrange(lists, state)
}

fn list<'a, T>(
    columns: &'static [Column],
    list: &'a List<T>,
    thing: fn(&'a T) -> Thing<'a>,
    empty: &'static str,
) -> Lists<'a> {
    (columns, list.rows().iter().map(thing).collect(), or_else(list, empty))
}

fn costs(data: &Data, grouping: Grouping) -> Lists<'_> {
    let (usage, empty) = (&data.usage, "Nothing has been used yet.");
    match grouping {
        Grouping::Day => (DAY_COSTS, usage.days.iter().map(Thing::Usage).collect(), empty),
        Grouping::Model => (MODEL_COSTS, usage.models.iter().map(Thing::Usage).collect(), empty),
        Grouping::Worker => {
            list(WORKER_COSTS, &usage.workers, Thing::Efficiency, "No worker has used anything yet.")
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

/// First what waits for a person, then what is running.
fn overview(data: &Data) -> Lists<'_> {
    let questions = data.questions.rows().iter().map(Thing::Question);
    let alerts = data.alerts.rows().iter().filter(|alert| is_open(alert)).map(Thing::Alert);
    let working = data.attempts.rows().iter().filter(|attempt| is_live(attempt)).map(Thing::Attempt);
    let empty =
        or_else(&data.attempts, "Nothing is running and nothing waits for you. n gives an agent a task.");
    (OVERVIEW, questions.chain(alerts).chain(working).collect(), empty)
}

fn arrange<'a>((columns, mut rows, empty): Lists<'a>, state: &'a State) -> Table<'a> {
    let (whole, look) = (rows.len(), state.look());
    let words: Vec<String> = look.filter.split_whitespace().map(str::to_lowercase).collect();
    if !words.is_empty() {
        rows.retain(|row| {
            let cells = row.cells(state);
            let text = cells.iter().map(|cell| cell.text.to_lowercase()).collect::<Vec<_>>().join(" ");
            words.iter().all(|word| text.contains(word.as_str()))
        });
    }
    if let Some(column) = look.sort {
        let by = |row: Thing<'a>| (row.cells(state).into_iter().nth(column), row);
        let mut keyed: Vec<(Option<Cell>, Thing<'a>)> = rows.into_iter().map(by).collect();
        // Stable, so that equal rows keep the server's order.
        keyed.sort_by(|(a, _), (b, _)| compare(a.as_ref(), b.as_ref()));
        rows = keyed.into_iter().map(|(_, row)| row).collect();
    }
    if look.reversed {
        rows.reverse();
    }
    let kept = look.selected.as_ref().and_then(|wanted| rows.iter().position(|row| row.subject() == *wanted));
    let last = rows.len().checked_sub(1);
    let selected = last.map(|last| kept.unwrap_or(look.index.min(last)));
    let empty = if whole > 0 { "No row matches; Esc clears the filter." } else { empty };
    let has_sections = look.sort.is_none() && !look.reversed;
    Table { columns, rows, has_sections, whole, selected, empty }
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
