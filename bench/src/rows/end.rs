//! From the agent's exit to `completed` on the stream of processes; the agent notes when it exits.

use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::client::Socket;
use crate::fake::now_ns;
use crate::figures::{Figures, percentile};
use crate::flow::{create_project, start};
use crate::report::{Goal, Line};
use crate::server::Server;
use crate::work::Work;

const READ_LIMIT: Duration = Duration::from_secs(15);

pub const LINES: &[Line] = &[Line::lower("end_ms", "agent exit → completed, p50", "ms", Goal::Times(5.0))];

pub async fn measure(work: &Work, server: &Server) -> Result<Figures> {
    let project = create_project(&server.client, &work.repository(10).await?).await?;
    let mut times = Vec::new();
    for number in 0..work.pick(15, 4) {
        let end = work.path(&format!("{}-end-{number}", server.side().name()));
        // Exits are spread over the period of a server that polls.
        let directives = format!("presleep={} end={}", 400 + number * 37, end.display());
        let started = start(&server.client, &project, &format!("End {number}"), &directives).await?;
        let path = format!("/api/execution-processes/stream/ws?task_attempt_id={}", started.attempt);
        let seen_ns = wait_completed(server.client.socket(&path).await?).await?;
        let ended_ns: u128 = std::fs::read_to_string(&end)?.parse().context("time of exit")?;
        times.push(seen_ns.saturating_sub(ended_ns) as f64 / 1e6);
    }
    Ok(Figures::from([("end_ms", percentile(&times, 0.5))]))
}

async fn wait_completed(mut socket: Socket) -> Result<u128> {
    while let Some(frame) = socket.next(READ_LIMIT).await {
        let arrived = now_ns();
        if frame.patch.iter().any(|change| change.value["status"] == "completed") {
            return Ok(arrived);
        }
    }
    bail!("no `completed` on the stream within {READ_LIMIT:?}")
}
