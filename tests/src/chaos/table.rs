//! What a tale did and which promises it found broken, as a table for people.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

/// What must hold whatever is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Promise {
    /// Every run, and every draft that waits, comes to an end.
    Stuck,
    /// What was acknowledged or written is there.
    Lost,
    /// Nothing happens twice: no agent, no prompt, no merge, no event, and no second agent in a directory.
    Doubled,
    /// No process outlives its run.
    Left,
    /// Logs, exit codes and rows say what happened.
    Wrong,
    /// No request is met with a fault of the server.
    Fault,
    /// A server starts, whatever the one before it was doing.
    Dead,
}

impl Promise {
    const ALL: [(Promise, &'static str); 7] = [
        (Promise::Stuck, "stuck"),
        (Promise::Lost, "lost"),
        (Promise::Doubled, "doubled"),
        (Promise::Left, "left at work"),
        (Promise::Wrong, "wrong"),
        (Promise::Fault, "5xx"),
        (Promise::Dead, "dead home"),
    ];
}

/// How a request ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    Done,
    Conflict,
    Refused,
    /// The server died before it answered.
    CutOff,
    Fault,
}

#[derive(Default)]
pub struct Tally {
    kills: BTreeMap<&'static str, usize>,
    starts: Vec<Duration>,
    operations: BTreeMap<&'static str, usize>,
    endings: BTreeMap<Ending, usize>,
    pub runs: usize,
    pub bytes: usize,
    pub events: usize,
    pub files: usize,
    broken: Vec<(Promise, String)>,
}

impl Tally {
    pub fn note_kill(&mut self, kind: &'static str) {
        *self.kills.entry(kind).or_default() += 1;
    }

    pub fn kills(&self) -> usize {
        self.kills.values().sum()
    }

    pub fn note_start(&mut self, took: Duration) {
        self.starts.push(took);
    }

    pub fn note_operation(&mut self, name: &'static str, ending: Ending) {
        *self.operations.entry(name).or_default() += 1;
        *self.endings.entry(ending).or_default() += 1;
    }

    pub fn note_broken(&mut self, promise: Promise, what: String) {
        self.broken.push((promise, what));
    }

    pub fn broken(&self) -> impl Iterator<Item = String> + '_ {
        let name =
            |promise: &Promise| Promise::ALL.iter().find(|(one, _)| one == promise).map(|(_, name)| *name);
        self.broken
            .iter()
            .map(move |(promise, what)| format!("{}: {what}", name(promise).unwrap_or("broken")))
    }

    pub fn holds(&self) -> bool {
        self.broken.is_empty()
    }
}

impl Display for Tally {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let parts = |counts: &BTreeMap<&str, usize>| {
            let parts: Vec<_> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
            (counts.values().sum::<usize>(), parts.join(", "))
        };
        let (kills, kinds) = parts(&self.kills);
        writeln!(out, "kills       {kills:>8}  {kinds}")?;
        let (count, sum) = (self.starts.len(), self.starts.iter().sum::<Duration>());
        let mean = sum.checked_div(u32::try_from(count).unwrap_or(1)).unwrap_or_default();
        let most = self.starts.iter().max().copied().unwrap_or_default();
        let seconds = |time: Duration| format!("{:.2} s", time.as_secs_f64());
        writeln!(out, "starts      {count:>8}  mean {}, longest {}", seconds(mean), seconds(most))?;
        let (operations, names) = parts(&self.operations);
        writeln!(out, "operations  {operations:>8}  {names}")?;
        let ended = |ending| self.endings.get(&ending).copied().unwrap_or_default();
        let (done, conflict) = (ended(Ending::Done), ended(Ending::Conflict));
        let (refused, cut) = (ended(Ending::Refused), ended(Ending::CutOff));
        writeln!(
            out,
            "answers     {:>8}  409 {conflict}, other refusals {refused}, cut off {cut}, 5xx {}",
            done,
            ended(Ending::Fault)
        )?;
        writeln!(out, "runs        {:>8}  {} bytes of log compared", self.runs, self.bytes)?;
        writeln!(out, "files       {:>8}  looked for", self.files)?;
        writeln!(out, "events      {:>8}  seen live and again", self.events)?;
        let count = |promise| self.broken.iter().filter(|(broken, _)| *broken == promise).count();
        let counts = Promise::ALL.map(|(promise, name)| format!("{name} {}", count(promise)));
        writeln!(out, "broken      {:>8}  {}", self.broken.len(), counts.join(", "))
    }
}
