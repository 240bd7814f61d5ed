//! The server is killed with agents running and started again: who is found again, what of the logs is missing.
//!
//! The agents print a numbered line every 50 ms throughout; half of them exit with 7.

use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::figures::Figures;
use crate::flow::{Started, create_project, start, wait_ended};
use crate::report::{Goal, Line};
use crate::server::Server;
use crate::work::Work;

const AGENTS: usize = 10;
const LINE_COUNT: usize = 300;
const GAP_MS: usize = 50;
const END_LIMIT: Duration = Duration::from_secs(40);
const READ_LIMIT: Duration = Duration::from_secs(5);

pub const LINES: &[Line] = &[
    Line::higher("crash_attached", "kill -9 with 10 agents: re-attached", "", Goal::Exactly(AGENTS as f64)),
    Line::lower("crash_lost", "lines of their logs lost", "", Goal::Exactly(0.0)),
    Line::higher("crash_codes", "right exit codes", "", Goal::Exactly(AGENTS as f64)),
];

pub async fn measure(work: &Work, server: &mut Server) -> Result<Figures> {
    let project = create_project(&server.client, &work.repository(10).await?).await?;
    let starts = (0..AGENTS).map(|number| {
        let (client, project) = (server.client.clone(), project.clone());
        let directives = format!("lines={LINE_COUNT} gap={GAP_MS} exit={}", expected_exit(number));
        async move { start(&client, &project, &format!("Crash {number}"), &directives).await }
    });
    let agents = futures_util::future::try_join_all(starts).await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    if count_running(server, &agents).await? < AGENTS {
        bail!("some agents ended before the server was killed");
    }
    server.crash().await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    server.restart().await?;
    let attached = count_running(server, &agents).await?;
    let (mut lost, mut codes) = (0, 0);
    for (number, agent) in agents.iter().enumerate() {
        let state = wait_ended(&server.client, &agent.process, END_LIMIT).await?;
        codes += u32::from(state["exit_code"] == expected_exit(number));
        lost += LINE_COUNT - count_lines(server, agent).await.unwrap_or(0).min(LINE_COUNT);
    }
    Ok(Figures::from([
        ("crash_attached", attached as f64),
        ("crash_lost", lost as f64),
        ("crash_codes", f64::from(codes)),
    ]))
}

async fn count_running(server: &Server, agents: &[Started]) -> Result<usize> {
    let mut running = 0;
    for agent in agents {
        let state = server.client.get(&format!("/api/execution-processes/{}", agent.process)).await?;
        running += usize::from(state["status"] == "running");
    }
    Ok(running)
}

fn expected_exit(number: usize) -> u8 {
    if number.is_multiple_of(2) { 0 } else { 7 }
}

async fn count_lines(server: &Server, agent: &Started) -> Result<usize> {
    let path = format!("/api/execution-processes/{}/raw-logs/ws", agent.process);
    let mut socket = server.client.socket(&path).await.context("log of a crashed server's agent")?;
    let mut text = String::new();
    while let Some(frame) = socket.next(READ_LIMIT).await {
        for change in &frame.patch {
            text.push_str(change.value["content"].as_str().unwrap_or_default());
        }
        if frame.finished {
            break;
        }
    }
    Ok(text.matches("\"L").count())
}
