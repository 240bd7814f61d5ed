//! The chaos tale: a real server, agents that keep a copy of all they do, random requests, and `kill -9` at random
//! moments. In the end everything that was acknowledged or written is compared with what is reported and what is there.
//!
//! A tale has eras. In each, several pairs of hands work on a fresh project while somebody kills; then all comes to
//! rest and is compared. Invariant: every choice comes from the seed, every process that the tale started is gone with
//! it, and a broken promise is noted with what it takes to look at it.

mod check;
mod kills;
mod ledger;
mod operations;
mod process;
mod table;
mod watcher;
mod witness;
mod world;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::json;

use self::table::Tally;
use self::watcher::Watcher;
use self::world::{Server, Stage};
use crate::{Rng, text};

pub use process::Identity;
pub use witness::{LONGEST_WRITE, Witness};

/// How much chaos, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Tale {
    pub seed: u64,
    pub length: Length,
    /// How many act at once.
    pub hands: usize,
    /// How many attempts an era has at most at a time.
    pub attempts: usize,
}

#[derive(Clone, Copy, Debug)]
pub enum Length {
    /// One era with so many kills.
    Kills(usize),
    /// Eras of `era` each, as many as begin within `whole`.
    Time { whole: Duration, era: Duration },
}

/// How a tale ended.
pub struct Outcome {
    pub seed: u64,
    pub took: Duration,
    pub eras: usize,
    /// The last era was cut short, and nothing of it compared.
    pub interrupted: bool,
    tally: Tally,
    /// Where everything lies, if a promise is broken.
    kept: Option<PathBuf>,
}

impl Outcome {
    pub fn holds(&self) -> bool {
        self.tally.holds()
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(out, "seed {}, {} s, {} eras", self.seed, self.took.as_secs(), self.eras)?;
        write!(out, "{}", self.tally)?;
        if self.interrupted {
            writeln!(out, "interrupted: era {} was not compared", self.eras)?;
        }
        for broken in self.tally.broken() {
            writeln!(out, "BROKEN {broken}")?;
        }
        match &self.kept {
            Some(kept) => writeln!(out, "seed {}; everything is kept in {}", self.seed, kept.display()),
            None => Ok(()),
        }
    }
}

impl Tale {
    /// Runs to the end, or until `interrupt` is there. After each era `hear` gets the tally.
    pub async fn run(
        self,
        interrupt: impl Future<Output = ()>,
        mut hear: impl FnMut(usize, &Tally),
    ) -> Outcome {
        let (begun, server, mut eras) = (Instant::now(), Server::start().await, 0);
        let mut interrupt = std::pin::pin!(interrupt);
        let (mut seeds, mut interrupted) = (Rng::new(self.seed), false);
        loop {
            eras += 1;
            tokio::select! {
                () = self.era(&server, eras, &mut seeds) => {}
                () = &mut interrupt => interrupted = true,
            }
            if interrupted {
                break;
            }
            hear(eras, &server.tally());
            if !server.tally().holds() || !self.goes_on(begun) {
                break;
            }
        }
        let (tally, kept) = server.finish().await;
        Outcome { seed: self.seed, took: begun.elapsed(), eras, interrupted, tally, kept }
    }

    fn goes_on(self, begun: Instant) -> bool {
        matches!(self.length, Length::Time { whole, .. } if begun.elapsed() < whole)
    }

    async fn era(self, server: &Server, number: usize, seeds: &mut Rng) {
        server.begin();
        let mut watcher = Watcher::begin(server).await;
        let stage = Stage::set(server, number).await;
        let mut rng = || Rng::new(seeds.below(usize::MAX) as u64);
        let (reaper, hands) = (rng(), (0..self.hands).map(|_| rng()).collect::<Vec<_>>());
        let (kills, limit) = match self.length {
            Length::Kills(kills) => (Some(kills), Duration::MAX),
            Length::Time { era, .. } => (None, era),
        };
        let timer = async {
            tokio::select! {
                () = tokio::time::sleep(limit) => server.end(),
                () = server.until_over() => {}
            }
        };
        let work = hands.into_iter().map(|rng| operations::work(&stage, rng, self.attempts));
        tokio::join!(kills::reap(&stage, reaper, kills), join_all(work), watcher.watch(server), timer);
        rest(&stage, watcher).await;
    }
}

/// All comes to an end, one more server dies, and then it is compared.
async fn rest(stage: &Stage<'_>, watcher: Watcher) {
    let server = stage.server;
    if check::settle(stage).await.is_none() {
        return;
    }
    server.crash().await;
    server.start_again().await;
    let Some(report) = check::settle(stage).await else { return };
    check::reckon(stage, &report).await;
    let last = json!({"project_id": stage.project, "title": "the last one"});
    if let Some(answer) = stage.post("task", "/api/tasks", &last).await {
        watcher.compare(server, &text(&answer.body["data"]["id"])).await;
    }
}
