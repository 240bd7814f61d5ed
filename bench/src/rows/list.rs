//! Listing the tasks of a project, and the first frame of their stream. Both are read whole but not parsed: the
//! client's work is not the server's.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::client::{Client, Frame};
use crate::figures::{Figures, ms, percentile};
use crate::flow::create_project;
use crate::report::{Goal, Line};
use crate::rows::task;
use crate::server::Server;
use crate::work::Work;

const FILLERS: usize = 4;
const READ_LIMIT: Duration = Duration::from_secs(60);

pub const THOUSAND: &[Line] = &[Line::lower("list1000_ms", "list 1,000 tasks, p50", "ms", Goal::Times(30.0))];
pub const TEN_THOUSAND: &[Line] = &[
    Line::lower("list10000_ms", "list 10,000 tasks, p50", "ms", Goal::Times(50.0)),
    Line::lower("snapshot10000_ms", "stream of 10,000 tasks: snapshot, p50", "ms", Goal::Times(15.0)),
];

pub async fn measure_thousand(work: &Work, server: &Server) -> Result<Figures> {
    let project = fill_project(work, server, 1000).await?;
    Ok(Figures::from([("list1000_ms", sample_list(work, server, &project).await?)]))
}

pub async fn measure_ten_thousand(work: &Work, server: &Server) -> Result<Figures> {
    let tasks = work.pick(10_000, 3000);
    let project = fill_project(work, server, tasks).await?;
    let list_ms = sample_list(work, server, &project).await?;
    let path = format!("/api/tasks/stream/ws?project_id={project}");
    let mut times = Vec::new();
    for _ in 0..work.pick(15, 5) {
        let (took, text) = read_snapshot(&server.client, &path).await?;
        times.push(ms(took));
        let frame: Frame = serde_json::from_str(&text)?;
        let count =
            frame.patch.first().and_then(|change| change.value.as_object()).map_or(0, |all| all.len());
        if count != tasks {
            bail!("{count} tasks in the snapshot instead of {tasks}");
        }
    }
    Ok(Figures::from([("list10000_ms", list_ms), ("snapshot10000_ms", percentile(&times, 0.5))]))
}

/// From opening the socket to the end of its first frame, with its text.
pub async fn read_snapshot(client: &Client, path: &str) -> Result<(Duration, String)> {
    let begin = Instant::now();
    let text = client.socket(path).await?.next_text(READ_LIMIT).await.context("no snapshot came")?;
    Ok((begin.elapsed(), text))
}

async fn fill_project(work: &Work, server: &Server, tasks: usize) -> Result<String> {
    let project = create_project(&server.client, &work.repository(1).await?).await?;
    let fillers: Vec<_> = (0..FILLERS)
        .map(|filler| tokio::spawn(fill(server.client.clone(), project.clone(), filler, tasks)))
        .collect();
    for filler in fillers {
        filler.await??;
    }
    let count = server.client.get(&path_of(&project)).await?.as_array().map_or(0, Vec::len);
    if count != tasks {
        bail!("{count} tasks listed instead of {tasks}");
    }
    Ok(project)
}

fn path_of(project: &str) -> String {
    format!("/api/tasks?project_id={project}")
}

async fn sample_list(work: &Work, server: &Server, project: &str) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..work.pick(15, 5) {
        let begin = Instant::now();
        server.client.get_bytes(&path_of(project)).await?;
        times.push(ms(begin.elapsed()));
    }
    Ok(percentile(&times, 0.5))
}

/// Creates every `FILLERS`th task; an error is tried again, because the peer fails now and then under load.
async fn fill(client: Client, project: String, first: usize, tasks: usize) -> Result<()> {
    for number in (first..tasks).step_by(FILLERS) {
        let body = task::body(&project, number);
        let mut result = client.post("/api/tasks", &body).await;
        for _ in 0..5 {
            if result.is_ok() {
                break;
            }
            result = client.post("/api/tasks", &body).await;
        }
        result?;
    }
    Ok(())
}
