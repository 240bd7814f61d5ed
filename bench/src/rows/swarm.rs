//! A hundred starts at the same moment: who fails, how long the answer takes, whether every branch has its own work.

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::client::Client;
use crate::figures::{Figures, ms, percentile};
use crate::flow::{Started, create_and_start, create_project, find_started, wait_ended};
use crate::report::{Goal, Line};
use crate::server::Server;
use crate::work::{Work, git};

const END_LIMIT: Duration = Duration::from_secs(180);

pub const LINES: &[Line] = &[
    Line::lower("swarm_failed", "100 starts at once: failed", "", Goal::Exactly(0.0)),
    Line::lower("swarm_wrong", "branches without the right commit", "", Goal::Exactly(0.0)),
    Line::lower("swarm_p50_ms", "answer, p50", "ms", Goal::Times(40.0)),
    Line::lower("swarm_p99_ms", "answer, p99", "ms", Goal::Shown),
];

pub async fn measure(work: &Work, server: &Server) -> Result<Figures> {
    let count = work.pick(100, 20);
    let repository = work.repository(100).await?;
    let base = git(&repository, &["rev-parse", "main"]).await?;
    let project = create_project(&server.client, &repository).await?;
    let starts: Vec<_> = (0..count)
        .map(|number| tokio::spawn(start_one(server.client.clone(), project.clone(), number)))
        .collect();
    // Nothing is asked of the server before all have been answered: the answers are what is timed.
    let mut answers = Vec::new();
    for start in starts {
        answers.push(start.await?);
    }
    let mut times = Vec::new();
    let (mut failed, mut wrong) = (0, 0);
    for (number, answer) in answers.into_iter().enumerate() {
        let ended = match answer {
            Ok((task, took)) => {
                times.push(ms(took));
                wait_one(server, &task, took).await
            }
            Err(error) => Err(error),
        };
        let checked = match ended {
            Ok(started) => {
                check_branch(&repository, &started.branch, &base, number).await.inspect_err(|_| wrong += 1)
            }
            Err(error) => Err(error).inspect_err(|_| failed += 1),
        };
        if let Err(error) = checked {
            eprintln!("swarm: {}: agent {number}: {error:#}", server.side().name());
        }
    }
    Ok(Figures::from([
        ("swarm_failed", f64::from(failed)),
        ("swarm_wrong", f64::from(wrong)),
        ("swarm_p50_ms", percentile(&times, 0.5)),
        ("swarm_p99_ms", percentile(&times, 0.99)),
    ]))
}

async fn start_one(client: Client, project: String, number: usize) -> Result<(String, Duration)> {
    let directives = format!("file=mark.txt number=n{number}n");
    create_and_start(&client, &project, &format!("Swarm {number}"), &directives).await
}

async fn wait_one(server: &Server, task: &str, took: Duration) -> Result<Started> {
    let started = find_started(&server.client, task, took).await?;
    let state = wait_ended(&server.client, &started.process, END_LIMIT).await?;
    if state["status"] != "completed" {
        bail!("ended as {}", state["status"]);
    }
    Ok(started)
}

/// The branch must be one commit ahead of the base and hold the mark of its own agent.
async fn check_branch(repository: &Path, branch: &str, base: &str, number: usize) -> Result<()> {
    for _ in 0..50 {
        let parent = git(repository, &["rev-parse", "--verify", "-q", &format!("{branch}^")]).await;
        let mark = git(repository, &["show", &format!("{branch}:mark.txt")]).await;
        if let (Ok(parent), Ok(mark)) = (parent, mark)
            && parent == base
            && mark.contains(&format!("number=n{number}n"))
        {
            return Ok(());
        }
        // The commit follows the end of the process.
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    bail!("{branch} does not hold the work of agent {number}")
}
