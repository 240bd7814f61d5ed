//! The columns of all lists.

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

pub const OVERVIEW: &[Column] = &[column(""), column("WHAT"), column("ID"), right("AGE"), bending("TITLE")];
pub const ATTEMPTS: &[Column] = &[
    column(""),
    column("ID"),
    column("STATUS"),
    bending("AGENT").yielding(),
    right("AGE"),
    right("COST"),
    bending("TITLE"),
    bending("BRANCH").yielding(),
];
pub const TASKS: &[Column] = &[
    column(""),
    column("ID"),
    column("STATUS"),
    right("TRIES"),
    bending("PROJECT"),
    right("AGE"),
    bending("TITLE"),
];
pub const BEADS: &[Column] = &[
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
pub const WORKERS: &[Column] = &[
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
pub const DAY_COSTS: &[Column] =
    &[bending("DAY"), right("RUNS"), right("INPUT"), right("CACHED"), right("OUTPUT"), right("COST")];
pub const MODEL_COSTS: &[Column] = &[
    bending("MODEL"),
    right("RUNS"),
    right("INPUT"),
    right("CACHED"),
    right("OUTPUT"),
    right("COST"),
    right("CACHE HITS").yielding(),
    right("LATENCY").yielding(),
];
pub const WORKER_COSTS: &[Column] = &[
    bending("WORKER"),
    column("TIER"),
    right("CALLS"),
    right("TOKENS"),
    right("COST"),
    right("TOKENS PER $"),
];
pub const ROUTING: &[Column] = &[
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
pub const ALERTS: &[Column] = &[
    column(""),
    column("SEVERITY"),
    column("KIND"),
    bending("ABOUT"),
    right("TIMES"),
    right("AGE"),
    bending("MESSAGE"),
];
