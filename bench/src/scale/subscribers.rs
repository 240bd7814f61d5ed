//! One change of a task and everybody who watches its project: from the request until the last one has it, and what that
//! costs the server for each.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::json;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::client::Socket;
use crate::figures::{Figures, ms, percentile};
use crate::flow::{create_project, id_of};
use crate::growth::{Cost, Limit, Table};
use crate::processes::cpu_ms;
use crate::rows::task;
use crate::scale::{measure_idle, start_server};
use crate::server::Server;
use crate::work::Work;

const SIZES: [usize; 4] = [1, 50, 200, 500];
const QUICK_SIZES: [usize; 4] = [1, 10, 20, 50];
const READ_LIMIT: Duration = Duration::from_secs(60);
const ARRIVAL_LIMIT: Duration = Duration::from_secs(10);
/// Begins the title of a changed task; the number of the change follows.
const TITLE: &str = "\"title\":\"Change ";

const COSTS: &[Cost] = &[
    Cost::new("spread_ms", "a change until all have it, p50", "ms", Limit::AtThird(5.0)),
    Cost::new("spread_p99_ms", "p99", "ms", Limit::Shown),
    Cost::new("each_us", "processor of the server for each", "µs", Limit::AtThird(20.0)),
    Cost::new("idle_cpu", "processor when idle", "ms/s", Limit::Shown),
    Cost::new("idle_mb", "memory when idle", "MB", Limit::Shown),
];

pub async fn measure(work: &Work) -> Result<Table> {
    let server = start_server(work, "scale-subscribers").await?;
    let project = create_project(&server.client, &work.repository(10).await?).await?;
    let task = id_of(&server.client.post("/api/tasks", &task::body(&project, 0)).await?)?;
    let mut table = Table::new("subscribers", COSTS);
    for size in work.pick(SIZES, QUICK_SIZES) {
        table.add(size, measure_size(work, &server, &project, &task, size).await?);
    }
    server.stop().await;
    Ok(table)
}

async fn measure_size(
    work: &Work,
    server: &Server,
    project: &str,
    task: &str,
    size: usize,
) -> Result<Figures> {
    let (arrive, mut arrivals) = unbounded_channel();
    let mut readers = JoinSet::new();
    for _ in 0..size {
        let mut socket = server.client.socket(&format!("/api/tasks/stream/ws?project_id={project}")).await?;
        socket.next_text(READ_LIMIT).await.context("no snapshot came")?;
        readers.spawn(follow(socket, arrive.clone()));
    }
    let mut figures = measure_idle(server).await;
    let changes = work.pick(200, 30);
    let before = cpu_ms(server.pid());
    let mut times = Vec::new();
    for number in 0..changes {
        let begin = Instant::now();
        let change = json!({"title": format!("Change {number}")});
        server.client.put(&format!("/api/tasks/{task}"), &change).await?;
        times.push(ms(last_arrival(&mut arrivals, number, size).await? - begin));
    }
    let spent_us = (cpu_ms(server.pid()) - before) * 1000.0;
    figures.extend([
        ("spread_ms", percentile(&times, 0.5)),
        ("spread_p99_ms", percentile(&times, 0.99)),
        ("each_us", spent_us / (changes * size) as f64),
    ]);
    Ok(figures)
}

/// Reports every change as soon as it is there.
async fn follow(mut socket: Socket, arrive: UnboundedSender<(usize, Instant)>) {
    while let Some(text) = socket.next_text(READ_LIMIT).await {
        let arrived = Instant::now();
        let number = text.split_once(TITLE).and_then(|(_, rest)| rest.split('"').next()?.parse().ok());
        if number.is_some_and(|number| arrive.send((number, arrived)).is_err()) {
            return;
        }
    }
}

async fn last_arrival(
    arrivals: &mut UnboundedReceiver<(usize, Instant)>,
    wanted: usize,
    size: usize,
) -> Result<Instant> {
    let mut last = None;
    let mut count = 0;
    while count < size {
        let arrival = timeout(ARRIVAL_LIMIT, arrivals.recv()).await;
        let (number, at) = arrival.ok().flatten().with_context(|| {
            format!("only {count} of {size} subscribers got change {wanted} within {ARRIVAL_LIMIT:?}")
        })?;
        if number == wanted {
            count += 1;
            last = last.max(Some(at));
        }
    }
    last.context("nobody watches")
}
