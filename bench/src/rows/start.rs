//! Create-and-start in a small and in a large repository, warm and cold, beside plain `git worktree add`; two starts and
//! twenty starts without a pause between them.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::figures::{Figures, ms, percentile};
use crate::flow::{
    END_LIMIT, create_and_start, create_project, find_started, install_agent, start, wait_calm_stock,
    wait_ended, wait_spares,
};
use crate::ours::{self, Spares};
use crate::report::{Goal, Line};
use crate::server::{Server, Side};
use crate::work::{Work, git};

const SMALL_FILES: usize = 100;
const LARGE_FILES: usize = 10_000;

/// Starts in the chain.
const CHAIN: usize = 20;
/// Longer than it takes to check out the last worktree of a full stock.
const CHECKOUT: Duration = Duration::from_secs(2);
/// Between two samples.
const REST: Duration = Duration::from_millis(100);

pub const SMALL: &[Line] = &[
    Line::lower("start100_ms", "create-and-start, 100 files, p50", "ms", Goal::Times(12.0)),
    Line::lower("first100_ms", "the first of two in a row, p50", "ms", Goal::Shown),
    Line::lower("second100_ms", "the second, p50", "ms", Goal::AtMostOf("first100_ms", 1.3)),
];

pub const LARGE: &[Line] = &[
    Line::lower("start10000_ms", "create-and-start, 10,000 files, p50", "ms", Goal::Times(40.0)),
    Line::lower(
        "start10000_ms",
        "… against its own 100-file figure",
        "ms",
        Goal::AtMostOf("start100_ms", 2.0),
    ),
    Line::lower("first10000_ms", "the first of two in a row, p50", "ms", Goal::Shown),
    Line::lower("second10000_ms", "the second, p50", "ms", Goal::AtMostOf("first10000_ms", 1.3)),
    Line::lower("plain_ms", "plain git worktree add", "ms", Goal::Shown),
    Line::lower("cold_ms", "… cold (no spare worktrees)", "ms", Goal::AtMostOf("plain_ms", 1.2)),
];

pub const CHAINED: &[Line] = &[
    Line::lower("chain_p50_ms", "20 starts in a row, 10,000 files, p50", "ms", Goal::Shown),
    Line::lower("chain_p99_ms", "p99", "ms", Goal::Shown),
    Line::lower("again_p50_ms", "20 more when it is calm again, p50", "ms", Goal::Shown),
    Line::lower("again_p99_ms", "p99", "ms", Goal::AtMost(100.0)),
];

pub async fn measure_small(work: &Work, server: &Server) -> Result<Figures> {
    let place = Place::new(work, server, SMALL_FILES).await?;
    let times = place.sample(server, work.pick(20, 5), Stock::Wait).await?;
    let [first, second] = place.sample_pairs(server, work.pick(10, 3)).await?;
    Ok(Figures::from([
        ("start100_ms", percentile(&times, 0.5)),
        ("first100_ms", percentile(&first, 0.5)),
        ("second100_ms", percentile(&second, 0.5)),
    ]))
}

pub async fn measure_large(work: &Work, server: &Server) -> Result<Figures> {
    let place = Place::new(work, server, LARGE_FILES).await?;
    let samples = work.pick(10, 3);
    let times = place.sample(server, samples, Stock::Wait).await?;
    let [first, second] = place.sample_pairs(server, work.pick(5, 2)).await?;
    let mut figures = Figures::from([
        ("start10000_ms", percentile(&times, 0.5)),
        ("first10000_ms", percentile(&first, 0.5)),
        ("second10000_ms", percentile(&second, 0.5)),
    ]);
    if server.side() == Side::Forge {
        figures.insert("plain_ms", percentile(&sample_git(work, samples).await?, 0.5));
        figures.insert("cold_ms", percentile(&sample_cold(work, samples).await?, 0.5));
    }
    Ok(figures)
}

/// Each start follows the answer to the one before; the agents end by themselves. The second chain is the one that
/// Forge has seen coming.
pub async fn measure_chain(work: &Work, server: &Server) -> Result<Figures> {
    let place = Place::new(work, server, LARGE_FILES).await?;
    place.sample(server, 0, Stock::Wait).await?;
    let first = place.start_in_turn(server, work.pick(CHAIN, 6)).await?;
    wait_calm_stock(server).await?;
    let again = place.start_in_turn(server, work.pick(CHAIN, 6)).await?;
    // What is written for the stock is not the next row's.
    wait_calm_stock(server).await?;
    Ok(Figures::from([
        ("chain_p50_ms", percentile(&first, 0.5)),
        ("chain_p99_ms", percentile(&first, 0.99)),
        ("again_p50_ms", percentile(&again, 0.5)),
        ("again_p99_ms", percentile(&again, 0.99)),
    ]))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stock {
    Wait,
    Ignore,
}

/// A project with a repository of its own.
struct Place {
    project: String,
    /// Worktrees that the server has in stock for others.
    others: u64,
}

impl Place {
    async fn new(work: &Work, server: &Server, files: usize) -> Result<Place> {
        let repository = work.repository(files).await?;
        let others = wait_calm_stock(server).await?;
        Ok(Place { project: create_project(&server.client, &repository).await?, others })
    }

    async fn sample(&self, server: &Server, samples: usize, stock: Stock) -> Result<Vec<f64>> {
        let mut times = Vec::new();
        for number in 0..=samples {
            if stock == Stock::Wait {
                wait_spares(server, self.others, 1).await?;
            }
            let started = start(&server.client, &self.project, &format!("Start {number}"), "exit=0").await?;
            wait_ended(&server.client, &started.process, END_LIMIT).await?;
            tokio::time::sleep(REST).await;
            // The first start of a repository warms caches on both sides.
            if number > 0 {
                times.push(ms(started.took));
            }
        }
        Ok(times)
    }

    /// The times of the first and of the second of two starts in a row, each time from a full stock.
    async fn sample_pairs(&self, server: &Server, samples: usize) -> Result<[Vec<f64>; 2]> {
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..samples {
            for (times, time) in times.iter_mut().zip(self.start_in_turn(server, 2).await?) {
                times.push(time);
            }
        }
        Ok(times)
    }

    /// So many starts without a pause; returns when their agents have ended.
    async fn start_in_turn(&self, server: &Server, count: usize) -> Result<Vec<f64>> {
        wait_spares(server, self.others, 2).await?;
        tokio::time::sleep(CHECKOUT).await;
        let (mut times, mut tasks) = (Vec::new(), Vec::new());
        for number in 0..count {
            let title = format!("Start {number}");
            let (task, took) = create_and_start(&server.client, &self.project, &title, "exit=0").await?;
            times.push(ms(took));
            tasks.push((task, took));
        }
        for (task, took) in tasks {
            let started = find_started(&server.client, &task, took).await?;
            wait_ended(&server.client, &started.process, END_LIMIT).await?;
        }
        tokio::time::sleep(REST).await;
        Ok(times)
    }
}

async fn sample_git(work: &Work, samples: usize) -> Result<Vec<f64>> {
    let repository = work.repository(LARGE_FILES).await?;
    let mut times = Vec::new();
    for number in 0..=samples {
        let path = work.path(&format!("plain-{number}"));
        let path = path.to_string_lossy();
        let begin = Instant::now();
        git(&repository, &["worktree", "add", "-q", "-b", &format!("plain-{number}"), &path, "main"]).await?;
        if number > 0 {
            times.push(ms(begin.elapsed()));
        }
    }
    Ok(times)
}

async fn sample_cold(work: &Work, samples: usize) -> Result<Vec<f64>> {
    let server = Server::start(ours::prepare(work, &work.forge, "forge-cold", Spares::None)?).await?;
    let times = async {
        install_agent(&server.client).await?;
        Place::new(work, &server, LARGE_FILES).await?.sample(&server, samples, Stock::Ignore).await
    }
    .await;
    server.stop().await;
    times
}
