//! Listing the tasks of a project. The answer is read whole but not parsed: the client's work is not the server's.

use std::time::Instant;

use anyhow::{Result, bail};

use crate::client::Client;
use crate::figures::{Figures, ms, percentile};
use crate::flow::create_project;
use crate::report::{Goal, Line};
use crate::rows::task;
use crate::server::Server;
use crate::work::Work;

const FILLERS: usize = 4;

pub const THOUSAND: &[Line] = &[Line::lower("list1000_ms", "list 1,000 tasks, p50", "ms", Goal::Times(30.0))];
pub const TEN_THOUSAND: &[Line] =
    &[Line::lower("list10000_ms", "list 10,000 tasks, p50", "ms", Goal::Times(30.0))];

pub async fn measure(work: &Work, server: &Server, tasks: usize, key: &'static str) -> Result<Figures> {
    let project = create_project(&server.client, &work.repository(1).await?).await?;
    let fillers: Vec<_> = (0..FILLERS)
        .map(|filler| tokio::spawn(fill(server.client.clone(), project.clone(), filler, tasks)))
        .collect();
    for filler in fillers {
        filler.await??;
    }
    let path = format!("/api/tasks?project_id={project}");
    let count = server.client.get(&path).await?.as_array().map_or(0, Vec::len);
    if count != tasks {
        bail!("{count} tasks listed instead of {tasks}");
    }
    let mut times = Vec::new();
    for _ in 0..work.pick(15, 5) {
        let begin = Instant::now();
        server.client.get_bytes(&path).await?;
        times.push(ms(begin.elapsed()));
    }
    Ok(Figures::from([(key, percentile(&times, 0.5))]))
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
