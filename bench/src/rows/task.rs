//! Creating tasks: one client after another, and sixteen at once.

use std::time::Instant;

use anyhow::Result;
use serde_json::{Value, json};

use crate::client::Client;
use crate::figures::{Figures, ms, percentile};
use crate::flow::create_project;
use crate::line;
use crate::report::{Goal, Line};
use crate::server::Server;
use crate::work::Work;

const CLIENTS: usize = 16;

pub const ONE: &[Line] =
    &[Line::lower("create_p50_ms", "create task, 1 client, p50", "ms", Goal::Times(8.0))];

pub const MANY: &[Line] = &[
    Line::higher("create16_rate", "create task, 16 clients", "/s", Goal::Times(20.0)),
    Line::lower("create16_p99_ms", "p99", "ms", Goal::Shown),
    Line::lower("create16_errors", "errors", "", Goal::Exactly(0.0)),
];

pub fn body(project: &str, number: usize) -> Value {
    json!({"project_id": project, "title": format!("Task {number}"), "description": "A description of ordinary length.",
        "parent_task_attempt": null, "image_ids": null})
}

pub async fn create_one_by_one(work: &Work, server: &Server) -> Result<Figures> {
    let project = create_project(&server.client, &work.repository(1).await?).await?;
    let (port, count) = (server.launch.port, work.pick(300, 60));
    let times = tokio::task::spawn_blocking(move || time_in_turn(port, &project, count)).await??;
    Ok(Figures::from([("create_p50_ms", percentile(&times, 0.5))]))
}

fn time_in_turn(port: u16, project: &str, count: usize) -> Result<Vec<f64>> {
    let mut line = line::Line::open(port)?;
    let mut times = Vec::with_capacity(count);
    for number in 0..count {
        let body = body(project, number);
        let begin = Instant::now();
        line.post("/api/tasks", &body)?;
        times.push(ms(begin.elapsed()));
    }
    Ok(times)
}

pub async fn create_at_once(work: &Work, server: &Server) -> Result<Figures> {
    let project = create_project(&server.client, &work.repository(1).await?).await?;
    let each = work.pick(100, 20);
    let begin = Instant::now();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| tokio::spawn(create_in_turn(server.client.clone(), project.clone(), each)))
        .collect();
    let mut times = Vec::new();
    let mut errors = 0;
    for client in clients {
        let (own_times, own_errors) = client.await?;
        times.extend(own_times);
        errors += own_errors;
    }
    let rate = times.len() as f64 / begin.elapsed().as_secs_f64();
    Ok(Figures::from([
        ("create16_rate", rate),
        ("create16_p99_ms", percentile(&times, 0.99)),
        ("create16_errors", errors as f64),
    ]))
}

async fn create_in_turn(client: Client, project: String, count: usize) -> (Vec<f64>, usize) {
    let mut times = Vec::new();
    let mut errors = 0;
    for number in 0..count {
        let begin = Instant::now();
        match client.post("/api/tasks", &body(&project, number)).await {
            Ok(_) => times.push(ms(begin.elapsed())),
            Err(_) => errors += 1,
        }
    }
    (times, errors)
}
