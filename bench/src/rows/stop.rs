//! Stopping an agent that has started a child in a session of its own.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::json;

use crate::figures::{Figures, ms, percentile};
use crate::flow::{create_project, start};
use crate::processes::is_alive;
use crate::report::{Goal, Line};
use crate::server::Server;
use crate::work::Work;

pub const LINES: &[Line] = &[
    Line::lower("stop_ms", "stop, p50", "ms", Goal::AtMost(300.0)),
    Line::lower("stop_left", "setsid children left behind", "", Goal::Exactly(0.0)),
];

pub async fn measure(work: &Work, server: &Server) -> Result<Figures> {
    let project = create_project(&server.client, &work.repository(10).await?).await?;
    let mut times = Vec::new();
    let mut left = 0;
    for number in 0..work.pick(10, 3) {
        let pidfile = work.path(&format!("{}-child-{number}", server.side().name()));
        let directives = format!("sleep=600000 pidfile={}", pidfile.display());
        let started = start(&server.client, &project, &format!("Stop {number}"), &directives).await?;
        let child = wait_pid(&pidfile).await?;
        let begin = Instant::now();
        server.client.post(&format!("/api/task-attempts/{}/stop", started.attempt), &json!({})).await?;
        times.push(ms(begin.elapsed()));
        left += u32::from(is_alive(child));
    }
    Ok(Figures::from([("stop_ms", percentile(&times, 0.5)), ("stop_left", f64::from(left))]))
}

async fn wait_pid(path: &std::path::Path) -> Result<u32> {
    for _ in 0..500 {
        if let Some(pid) = std::fs::read_to_string(path).ok().and_then(|text| text.parse().ok()) {
            return Ok(pid);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    None.context("the agent did not start its child within 10 s")
}
