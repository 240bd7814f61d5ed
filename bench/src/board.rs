//! The page in a browser: how soon the first card of a large board is there, and the end of a long transcript. Every task
//! of the board has an attempt that has ended.
//!
//! `board.mjs` drives Chromium and reports when the page showed what it waits for. Where there is no Chromium, no
//! Playwright, or no page in the program, the part is skipped and says what is missing.

use std::process::Stdio;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::copies;
use crate::figures::Figures;
use crate::flow::{
    END_LIMIT, create_and_start, create_project, find_started, install_agent, start, wait_ended,
};
use crate::ours::{self, Spares};
use crate::processes::MARK;
use crate::report::{Goal, Line, Outcome, Report};
use crate::server::Server;
use crate::work::Work;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/board.mjs");

const LINES: &[Line] = &[
    Line::lower("card_ms", "1,200 tasks at 1.6 Mbit/s: first card, p50", "ms", Goal::AtMost(2000.0)),
    Line::lower("transcript_ms", "10,000 entries: end visible, p50", "ms", Goal::AtMost(1000.0)),
];

enum Shown {
    Measured(Figures),
    /// What is missing here.
    Missing(String),
}

pub async fn measure(work: &Work, report: &mut Report) {
    let outcome = match show(work).await {
        Ok(Shown::Missing(reason)) => return report.skip("board", &reason),
        Ok(Shown::Measured(figures)) => Outcome::Measured(figures),
        Err(error) => Outcome::Failed(format!("{error:#}")),
    };
    report.add("board", LINES, &Outcome::Skipped, &outcome);
}

async fn show(work: &Work) -> Result<Shown> {
    if let Some(reason) = ask(work, &json!({})).await?["missing"].as_str() {
        return Ok(Shown::Missing(reason.to_owned()));
    }
    let mut server = Server::start(ours::prepare(work, &work.forge, "forge-board", Spares::Kept)?).await?;
    let shown = show_on(work, &mut server).await;
    server.stop().await;
    shown
}

async fn show_on(work: &Work, server: &mut Server) -> Result<Shown> {
    let client = server.client.clone();
    install_agent(&client).await?;
    let project = create_project(&client, &work.repository(10).await?).await?;
    let original = start(&client, &project, "Task", "exit=0").await?;
    wait_ended(&client, &original.process, END_LIMIT).await?;
    let entries = work.pick(10_000, 2000);
    let talk = create_project(&client, &work.repository(10).await?).await?;
    let (task, took) = create_and_start(&client, &talk, "Talk", &format!("lines={entries}")).await?;
    let started = find_started(&client, &task, took).await?;
    wait_ended(&client, &started.process, END_LIMIT).await?;
    server.halt().await;
    copies::fill(&server.launch.home, &original, work.pick(1200, 300)).await?;
    copies::count_again(&server.launch.home).await?;
    server.restart().await?;
    let answer = ask(
        work,
        &json!({
            "base": format!("http://127.0.0.1:{}", server.launch.port),
            "board": format!("/projects/{project}/tasks"),
            "transcript": format!("/projects/{talk}/tasks/{task}/attempts/{}", started.attempt),
            "last": format!("L{:07}", entries - 1),
            "samples": work.pick(5, 3),
        }),
    )
    .await?;
    if let Some(reason) = answer["missing"].as_str() {
        return Ok(Shown::Missing(reason.to_owned()));
    }
    let figure = |key: &str| answer[key].as_f64().with_context(|| format!("no {key} in {answer}"));
    Ok(Shown::Measured(Figures::from([
        ("card_ms", figure("card_ms")?),
        ("transcript_ms", figure("transcript_ms")?),
    ])))
}

/// What the script answers: figures, or `missing`. Without a base it only looks whether it can work here.
async fn ask(work: &Work, question: &Value) -> Result<Value> {
    let asked = Command::new("node")
        .arg(SCRIPT)
        .arg(question.to_string())
        .env(MARK, &work.run)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await;
    let output = match asked {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(json!({"missing": "no node on the search path"}));
        }
        asked => asked.context("start node")?,
    };
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    serde_json::from_slice(&output.stdout).context("the answer of board.mjs")
}
