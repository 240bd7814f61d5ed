//! A home with more and more runs that have ended, each with its journal, branch and worktree: how long a restart takes.
//!
//! The runs are real ones, made by many clients: what a start looks at is on the disk as much as in the database.

use std::time::Duration;

use anyhow::{Result, bail};
use futures_util::{StreamExt, TryStreamExt, stream};

use crate::client::Client;
use crate::figures::{Figures, ms, percentile};
use crate::flow::{create_and_start, create_project, find_started, wait_ended};
use crate::growth::{Cost, Limit, Table};
use crate::processes::cpu_ms;
use crate::scale::{IDLE, measure_idle, start_server};
use crate::server::Server;
use crate::work::Work;

const SIZES: [usize; 2] = [200, 2000];
const QUICK_SIZES: [usize; 2] = [20, 60];
const CLIENTS: usize = 8;
const END_LIMIT: Duration = Duration::from_secs(180);

const COSTS: &[Cost] = &[
    Cost::new("restart_ms", "restart until it answers, p50", "ms", Limit::Shown),
    Cost::new("after_ms", "processor until 5 s after that", "ms", Limit::Shown),
    Cost::new("idle_cpu", "processor when idle", "ms/s", Limit::Shown),
    Cost::new("idle_mb", "memory when idle", "MB", Limit::Shown),
];

pub async fn measure(work: &Work) -> Result<Table> {
    let mut server = start_server(work, "scale-runs").await?;
    let project = create_project(&server.client, &work.repository(10).await?).await?;
    let mut table = Table::new("ended runs", COSTS);
    let mut done = 0;
    for size in work.pick(SIZES, QUICK_SIZES) {
        let (client, project) = (&server.client, &project);
        stream::iter(done..size)
            .map(|number| run_one(client, project, number))
            .buffer_unordered(CLIENTS)
            .try_collect::<Vec<_>>()
            .await?;
        done = size;
        table.add(size, measure_size(work, &mut server).await?);
    }
    server.stop().await;
    Ok(table)
}

async fn run_one(client: &Client, project: &str, number: usize) -> Result<()> {
    let (task, took) = create_and_start(client, project, &format!("Run {number}"), "exit=0").await?;
    let started = find_started(client, &task, took).await?;
    let state = wait_ended(client, &started.process, END_LIMIT).await?;
    match state["status"] == "completed" {
        true => Ok(()),
        false => bail!("run {number} ended as {}", state["status"]),
    }
}

async fn measure_size(work: &Work, server: &mut Server) -> Result<Figures> {
    // Commits and spare worktrees follow the last end.
    tokio::time::sleep(IDLE).await;
    let mut times = Vec::new();
    for _ in 0..work.pick(5, 3) {
        server.halt().await;
        times.push(ms(server.restart().await?));
    }
    tokio::time::sleep(IDLE).await;
    let after_ms = cpu_ms(server.pid());
    let mut figures = measure_idle(server).await;
    figures.extend([("restart_ms", percentile(&times, 0.5)), ("after_ms", after_ms)]);
    Ok(figures)
}
