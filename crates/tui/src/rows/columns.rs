//! The columns of all lists.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub head: &'static str,
    pub is_right: bool,
    /// Shrinks when space is short.
    pub bends: bool,
    /// Is left out before bending columns become unreadable.
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

pub(crate) const OVERVIEW: &[Column] =
    &[column(""), column("WHAT"), column("ID"), right("AGE"), bending("TITLE")];
pub(crate) const ATTEMPTS: &[Column] = &[
    column(""),
    column("ID"),
    column("STATUS"),
    bending("AGENT").yielding(),
    right("AGE"),
    right("COST"),
    bending("TITLE"),
    bending("BRANCH").yielding(),
];
pub(crate) const TASKS: &[Column] = &[
    column(""),
    column("ID"),
    column("STATUS"),
    right("TRIES"),
    bending("PROJECT"),
    right("AGE"),
    bending("TITLE"),
];
pub(crate) const BEADS: &[Column] = &[
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
pub(crate) const WORKERS: &[Column] = &[
    column(""),
    column("ID"),
    column("PHASE"),
    bending("HEALTH"),
    bending("MODEL"),
    column("TIER").yielding(),
    right("MB").yielding(),
    right("AGE"),
    bending("WORK"),
    bending("LAST MESSAGE").yielding(),
];
pub(crate) const DAY_COSTS: &[Column] =
    &[bending("DAY"), right("RUNS"), right("INPUT"), right("CACHED"), right("OUTPUT"), right("COST")];
pub(crate) const MODEL_COSTS: &[Column] = &[
    bending("MODEL"),
    right("RUNS"),
    right("INPUT"),
    right("CACHED"),
    right("OUTPUT"),
    right("COST"),
    right("CACHE HITS").yielding(),
    right("LATENCY").yielding(),
];
pub(crate) const WORKER_COSTS: &[Column] = &[
    bending("WORKER"),
    column("TIER"),
    right("CALLS"),
    right("TOKENS"),
    right("COST"),
    right("TOKENS PER $"),
];
pub(crate) const ROUTING: &[Column] = &[
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
pub(crate) const ALERTS: &[Column] = &[
    column(""),
    column("SEVERITY"),
    column("KIND"),
    bending("ABOUT"),
    right("TIMES"),
    right("AGE"),
    bending("MESSAGE"),
];
