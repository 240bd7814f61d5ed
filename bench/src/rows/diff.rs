//! The diff of an attempt that changed a thousand files: from opening the socket to the last file, with its text and
//! with figures alone, and what it costs in memory. Each file has a hundred new lines, so it is a diff of a hundred
//! thousand.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::figures::{Figures, ms, percentile};
use crate::flow::{END_LIMIT, create_project, start, wait_ended};
use crate::processes::{peak_mb, reset_peak, resident_mb};
use crate::report::{Goal, Line};
use crate::server::Server;
use crate::work::Work;

const FILES: usize = 1000;
const READ_LIMIT: Duration = Duration::from_secs(60);

pub const LINES: &[Line] = &[
    Line::lower("diff_ms", "diff of 1,000 committed files, p50", "ms", Goal::Times(3.0)),
    Line::lower("diff_stats_ms", "… its statistics alone, p50", "ms", Goal::Times(3.0)),
    Line::lower("diff_grown_mb", "memory it takes for the moment", "MB", Goal::AtMost(20.0)),
];

pub async fn measure(work: &Work, server: &Server) -> Result<Figures> {
    let project = create_project(&server.client, &work.repository(FILES).await?).await?;
    let started = start(&server.client, &project, "Diff", &format!("edit={FILES}")).await?;
    wait_ended(&server.client, &started.process, END_LIMIT).await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    reset_peak(server.pid());
    let before_mb = resident_mb(server.pid());
    let path = format!("/api/task-attempts/{}/diff/ws", started.attempt);
    let diff_ms = sample(work, server, &path).await?;
    let grown_mb = (peak_mb(server.pid()) - before_mb).max(0.0);
    let stats_ms = sample(work, server, &format!("{path}?stats_only=true")).await?;
    Ok(Figures::from([("diff_ms", diff_ms), ("diff_stats_ms", stats_ms), ("diff_grown_mb", grown_mb)]))
}

async fn sample(work: &Work, server: &Server, path: &str) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..work.pick(7, 3) {
        times.push(ms(read(server, path).await?));
    }
    Ok(percentile(&times, 0.5))
}

async fn read(server: &Server, path: &str) -> Result<Duration> {
    let begin = Instant::now();
    let mut socket = server.client.socket(path).await?;
    let mut files = HashSet::new();
    while let Some(frame) = socket.next(READ_LIMIT).await {
        files.extend(
            frame
                .patch
                .into_iter()
                .filter_map(|change| change.value["content"]["newPath"].as_str().map(str::to_owned)),
        );
        if files.len() == FILES {
            return Ok(begin.elapsed());
        }
    }
    bail!("only {} of {FILES} files arrived", files.len())
}
