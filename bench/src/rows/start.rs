//! Create-and-start in a small and in a large repository, warm and cold, beside plain `git worktree add`.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::figures::{Figures, ms, percentile};
use crate::flow::{END_LIMIT, count_spares, create_project, install_agent, start, wait_ended, wait_spare};
use crate::ours::{self, Spares};
use crate::report::{Goal, Line};
use crate::server::{Server, Side};
use crate::work::{Work, git};

const SMALL_FILES: usize = 100;
const LARGE_FILES: usize = 10_000;

pub const SMALL: &[Line] =
    &[Line::lower("start100_ms", "create-and-start, 100 files, p50", "ms", Goal::Times(5.0))];

pub const LARGE: &[Line] = &[
    Line::lower("start10000_ms", "create-and-start, 10,000 files, p50", "ms", Goal::Times(15.0)),
    Line::lower(
        "start10000_ms",
        "… against its own 100-file figure",
        "ms",
        Goal::AtMostOf("start100_ms", 2.0),
    ),
    Line::lower("plain_ms", "plain git worktree add", "ms", Goal::Shown),
    Line::lower("cold_ms", "… cold (no spare worktrees)", "ms", Goal::AtMostOf("plain_ms", 1.2)),
];

pub async fn measure_small(work: &Work, server: &Server) -> Result<Figures> {
    let repository = work.repository(SMALL_FILES).await?;
    let times = sample(server, &repository, work.pick(20, 5), Stock::Wait).await?;
    Ok(Figures::from([("start100_ms", percentile(&times, 0.5))]))
}

pub async fn measure_large(work: &Work, server: &Server) -> Result<Figures> {
    let repository = work.repository(LARGE_FILES).await?;
    let samples = work.pick(10, 3);
    let times = sample(server, &repository, samples, Stock::Wait).await?;
    let mut figures = Figures::from([("start10000_ms", percentile(&times, 0.5))]);
    if server.side() == Side::Forge {
        figures.insert("plain_ms", percentile(&sample_git(work, samples).await?, 0.5));
        figures.insert("cold_ms", percentile(&sample_cold(work, samples).await?, 0.5));
    }
    Ok(figures)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stock {
    Wait,
    Ignore,
}

async fn sample(server: &Server, repository: &Path, samples: usize, stock: Stock) -> Result<Vec<f64>> {
    let others = count_spares(server).await?;
    let project = create_project(&server.client, repository).await?;
    let mut times = Vec::new();
    for number in 0..=samples {
        if stock == Stock::Wait {
            wait_spare(server, others).await?;
        }
        let started = start(&server.client, &project, &format!("Start {number}"), "exit=0").await?;
        wait_ended(&server.client, &started.process, END_LIMIT).await?;
        tokio::time::sleep(Duration::from_millis(100)).await;
        // The first start of a repository warms caches on both sides.
        if number > 0 {
            times.push(ms(started.took));
        }
    }
    Ok(times)
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
        sample(&server, &work.repository(LARGE_FILES).await?, samples, Stock::Ignore).await
    }
    .await;
    server.stop().await;
    times
}
