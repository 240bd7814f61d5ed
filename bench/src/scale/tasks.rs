//! A project with more and more tasks, each with an attempt that has ended.

use std::time::Instant;

use anyhow::{Result, bail};

use crate::copies;
use crate::figures::{Figures, ms, percentile};
use crate::flow::{END_LIMIT, create_project, start, wait_ended};
use crate::growth::{Cost, Limit, Table};
use crate::line::Line;
use crate::rows::{list, task};
use crate::scale::{measure_idle, start_server};
use crate::server::Server;
use crate::work::Work;

const SIZES: [usize; 4] = [1000, 10_000, 50_000, 100_000];
const QUICK_SIZES: [usize; 4] = [100, 1000, 5000, 10_000];

const COSTS: &[Cost] = &[
    Cost::new("page_ms", "page of 50 tasks, p50", "ms", Limit::WholeGrowth(1.2)),
    Cost::new("last_page_ms", "the last page of 50, p50", "ms", Limit::Shown),
    Cost::new("cards_ms", "cards of the board, p50", "ms", Limit::MiddleGrowth(5.5)),
    Cost::new("uncounted_ms", "… by SQLite's figures of one task, p50", "ms", Limit::Shown),
    Cost::new("list_ms", "list of all tasks, p50", "ms", Limit::Shown),
    Cost::new("snapshot_ms", "stream of tasks: snapshot, p50", "ms", Limit::Shown),
    Cost::new("create_ms", "create task, p50", "ms", Limit::Shown),
    Cost::new("restart_ms", "restart until it answers", "ms", Limit::Shown),
    Cost::new("idle_cpu", "processor when idle", "ms/s", Limit::Shown),
    Cost::new("idle_mb", "memory when idle", "MB", Limit::Shown),
];

pub async fn measure(work: &Work) -> Result<Table> {
    let mut server = start_server(work, "scale-tasks").await?;
    let project = create_project(&server.client, &work.repository(10).await?).await?;
    let original = start(&server.client, &project, "Task", "exit=0").await?;
    wait_ended(&server.client, &original.process, END_LIMIT).await?;
    let home = server.launch.home.clone();
    let mut table = Table::new("tasks", COSTS);
    let sizes = work.pick(SIZES, QUICK_SIZES);
    for size in sizes {
        let mut figures = Figures::new();
        server.halt().await;
        copies::fill(&home, &original, size).await?;
        if size == sizes[0] {
            server.restart().await?;
            figures.insert("uncounted_ms", sample(&server, &cards_of(&project), 3).await?);
            server.halt().await;
        }
        copies::count_again(&home).await?;
        figures.insert("restart_ms", ms(server.restart().await?));
        figures.extend(measure_idle(&server).await);
        figures.extend(measure_size(work, &server, &project, size).await?);
        table.add(size, figures);
    }
    server.stop().await;
    Ok(table)
}

fn cards_of(project: &str) -> String {
    format!("/api/projects/{project}/cards")
}

async fn measure_size(work: &Work, server: &Server, project: &str, size: usize) -> Result<Figures> {
    let tasks = format!("/api/tasks?project_id={project}");
    let cards = cards_of(project);
    for (path, limit) in [(&cards, size / 2), (&tasks, size)] {
        let found = server.client.get(path).await?.as_array().map_or(0, Vec::len);
        if found < limit {
            bail!("{path}: {found} of at least {limit}");
        }
    }
    let (port, samples, few) = (server.launch.port, work.pick(300, 50), work.pick(9, 3));
    let page = format!("{tasks}&limit=50");
    let last_page = format!("{page}&offset={}", size - 50);
    let (new, asked) = (project.to_owned(), [page, last_page]);
    let in_turn = move || time_in_turn(port, &asked, &new, samples);
    let [page_ms, last_page_ms, create_ms] = tokio::task::spawn_blocking(in_turn).await??;
    let stream = format!("/api/tasks/stream/ws?project_id={project}");
    let mut snapshots = Vec::new();
    for _ in 0..few {
        snapshots.push(ms(list::read_snapshot(&server.client, &stream).await?.0));
    }
    Ok(Figures::from([
        ("page_ms", page_ms),
        ("last_page_ms", last_page_ms),
        ("create_ms", create_ms),
        ("cards_ms", sample(server, &cards, few).await?),
        ("list_ms", sample(server, &tasks, few).await?),
        ("snapshot_ms", percentile(&snapshots, 0.5)),
    ]))
}

async fn sample(server: &Server, path: &str, samples: usize) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..samples {
        let begin = Instant::now();
        server.client.get_bytes(path).await?;
        times.push(ms(begin.elapsed()));
    }
    Ok(percentile(&times, 0.5))
}

/// The two pages, and then a new task: what is made comes after what is counted.
fn time_in_turn(port: u16, pages: &[String; 2], project: &str, samples: usize) -> Result<[f64; 3]> {
    let mut line = Line::open(port)?;
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    for number in 0..samples * 3 {
        let which = number / samples;
        let begin = Instant::now();
        match pages.get(which) {
            Some(page) => line.get(page)?,
            None => line.post("/api/tasks", &task::body(project, number))?,
        }
        times[which].push(ms(begin.elapsed()));
    }
    Ok(times.map(|times| percentile(&times, 0.5)))
}
