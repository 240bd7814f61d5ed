//! The rows of the table: what is done, in which order, and what each is judged by.
//!
//! A row runs against one server at a time and yields figures; the same code runs against both.

mod crash;
mod diff;
mod end;
mod flood;
mod latency;
pub mod list;
mod memory;
mod start;
mod stop;
mod swarm;
pub mod task;

use std::time::Duration;

use anyhow::{Result, bail};

use crate::figures::Figures;
use crate::report::Line;
use crate::server::Server;
use crate::work::Work;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Row {
    Create,
    CreateMany,
    List1000,
    List10000,
    Start100,
    Start10000,
    Chain,
    Latency,
    Flood100k,
    Flood1m,
    Swarm,
    Stop,
    End,
    Diff,
    Memory,
    Crash,
}

/// In running order: memory after everything that only adds, the crash last because it restarts the server.
pub const ROWS: [Row; 16] = [
    Row::Create,
    Row::CreateMany,
    Row::List1000,
    Row::List10000,
    Row::Start100,
    Row::Start10000,
    Row::Chain,
    Row::Latency,
    Row::Flood100k,
    Row::Flood1m,
    Row::Swarm,
    Row::Stop,
    Row::End,
    Row::Diff,
    Row::Memory,
    Row::Crash,
];

impl Row {
    pub fn name(self) -> &'static str {
        match self {
            Row::Create => "create",
            Row::CreateMany => "create16",
            Row::List1000 => "list1000",
            Row::List10000 => "list10000",
            Row::Start100 => "start100",
            Row::Start10000 => "start10000",
            Row::Chain => "chain10000",
            Row::Latency => "latency",
            Row::Flood100k => "flood100k",
            Row::Flood1m => "flood1m",
            Row::Swarm => "swarm",
            Row::Stop => "stop",
            Row::End => "end",
            Row::Diff => "diff",
            Row::Memory => "memory",
            Row::Crash => "crash",
        }
    }

    pub fn lines(self) -> &'static [Line] {
        match self {
            Row::Create => task::ONE,
            Row::CreateMany => task::MANY,
            Row::List1000 => list::THOUSAND,
            Row::List10000 => list::TEN_THOUSAND,
            Row::Start100 => start::SMALL,
            Row::Start10000 => start::LARGE,
            Row::Chain => start::CHAINED,
            Row::Latency => latency::LINES,
            Row::Flood100k | Row::Flood1m => flood::LINES,
            Row::Swarm => swarm::LINES,
            Row::Stop => stop::LINES,
            Row::End => end::LINES,
            Row::Diff => diff::LINES,
            Row::Memory => memory::LINES,
            Row::Crash => crash::LINES,
        }
    }

    /// Longest one side of the row may take.
    fn limit(self) -> Duration {
        Duration::from_secs(match self {
            Row::Flood1m => 900,
            Row::List10000 | Row::Flood100k | Row::Swarm => 400,
            _ => 240,
        })
    }

    pub async fn measure(self, work: &Work, server: &mut Server) -> Result<Figures> {
        let limit = self.limit();
        match tokio::time::timeout(limit, self.run(work, server)).await {
            Ok(figures) => figures,
            Err(_) => bail!("not done within {limit:?}"),
        }
    }

    async fn run(self, work: &Work, server: &mut Server) -> Result<Figures> {
        match self {
            Row::Create => task::create_one_by_one(work, server).await,
            Row::CreateMany => task::create_at_once(work, server).await,
            Row::List1000 => list::measure_thousand(work, server).await,
            Row::List10000 => list::measure_ten_thousand(work, server).await,
            Row::Start100 => start::measure_small(work, server).await,
            Row::Start10000 => start::measure_large(work, server).await,
            Row::Chain => start::measure_chain(work, server).await,
            Row::Latency => latency::measure(work, server).await,
            Row::Flood100k => flood::measure(work, server, work.pick(100_000, 20_000)).await,
            Row::Flood1m => flood::measure(work, server, work.pick(1_000_000, 100_000)).await,
            Row::Swarm => swarm::measure(work, server).await,
            Row::Stop => stop::measure(work, server).await,
            Row::End => end::measure(work, server).await,
            Row::Diff => diff::measure(work, server).await,
            Row::Memory => memory::measure(server).await,
            Row::Crash => crash::measure(work, server).await,
        }
    }
}
