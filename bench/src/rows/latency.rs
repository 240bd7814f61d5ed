//! From the agent's write to the client's WebSocket: each line carries the time it was printed.

use std::time::Duration;

use anyhow::{Result, bail};

use crate::fake::now_ns;
use crate::figures::{Figures, percentile};
use crate::flow::{create_project, start};
use crate::report::{Goal, Line};
use crate::server::Server;
use crate::work::Work;

const GAP_MS: u64 = 20;
const READ_LIMIT: Duration = Duration::from_secs(20);
const STAMP_DIGITS: usize = 19;

pub const LINES: &[Line] = &[
    Line::lower("latency_p50_ms", "line printed → WebSocket, p50", "ms", Goal::Times(4.0)),
    Line::lower("latency_p99_ms", "p99", "ms", Goal::Times(4.0)),
];

pub async fn measure(work: &Work, server: &Server) -> Result<Figures> {
    let lines = work.pick(200, 50);
    let project = create_project(&server.client, &work.repository(10).await?).await?;
    let directives = format!("presleep=700 lines={lines} gap={GAP_MS}");
    let started = start(&server.client, &project, "Latency", &directives).await?;
    let path = format!("/api/execution-processes/{}/raw-logs/ws", started.process);
    let mut socket = server.client.socket(&path).await?;
    let mut times = Vec::new();
    while times.len() < lines {
        let Some(text) = socket.next_text(READ_LIMIT).await else { break };
        let arrived = now_ns();
        times.extend(stamps(&text).map(|printed| arrived.saturating_sub(printed) as f64 / 1e6));
    }
    if times.len() < lines {
        bail!("{} of {lines} lines arrived", times.len());
    }
    Ok(Figures::from([
        ("latency_p50_ms", percentile(&times, 0.5)),
        ("latency_p99_ms", percentile(&times, 0.99)),
    ]))
}

/// The time stamps in a frame; a stamp cut by a chunk border is not found and shows as a missing line.
fn stamps(text: &str) -> impl Iterator<Item = u128> {
    text.match_indices('T').filter_map(|(at, _)| text.get(at + 1..at + 1 + STAMP_DIGITS)?.parse().ok())
}
