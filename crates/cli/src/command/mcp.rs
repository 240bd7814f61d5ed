//! `forge mcp`: the server's `/mcp` for programs that speak over standard input and output.
//!
//! Owns the way of each message: one line in is one request to the server, and what the server says to it are lines out.
//! The tools themselves are the server's. Invariant: standard output carries the protocol and nothing else; every
//! request that has an id gets an answer, also when no server runs; the program ends soon after its input does.

mod line;
mod message;
mod relay;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio_util::task::TaskTracker;

use crate::command::serve::block_on;
use line::{Line, read_line};
use message::{Message, PARSE_ERROR, failure};
use relay::Relay;

/// As much as the server takes.
const MAX_LINE_BYTES: usize = 2 << 20;
/// Lines that wait for a slow reader; the server waits with us.
const WAITING_LINES: usize = 64;
/// How long what was asked may take after the input has ended.
const FAREWELL: Duration = Duration::from_secs(5);

#[derive(clap::Args)]
#[group(skip)]
pub struct Flags {
    /// List every tool, not only those of the usual work
    #[arg(long, hide = true)]
    advanced: bool,
}

pub fn run(flags: Flags) -> Result<()> {
    block_on(bridge(flags.advanced))
}

async fn bridge(is_advanced: bool) -> Result<()> {
    let relay = Arc::new(Relay::new(is_advanced)?);
    let (say, mut said) = mpsc::channel::<String>(WAITING_LINES);
    let mut writing = tokio::spawn(async move {
        let mut out = tokio::io::stdout();
        while let Some(line) = said.recv().await {
            let written = out.write_all(format!("{line}\n").as_bytes()).await;
            if written.is_err() || out.flush().await.is_err() {
                return;
            }
        }
    });
    let mut input = BufReader::new(tokio::io::stdin());
    let open = TaskTracker::new();
    let mut asked: HashMap<String, AbortHandle> = HashMap::new();
    loop {
        let line = tokio::select! {
            line = read_line(&mut input, MAX_LINE_BYTES) => line?,
            // Nobody listens any more.
            _ = &mut writing => return Ok(()),
        };
        let text = match line {
            None => break,
            Some(Line::Whole(text)) if text.trim().is_empty() => continue,
            Some(Line::Whole(text)) => text,
            Some(Line::TooLong) => {
                let words =
                    format!("the line is longer than {} bytes, the most that is taken", MAX_LINE_BYTES);
                let _ = say.send(failure(None, PARSE_ERROR, &words)).await;
                continue;
            }
        };
        let message = match Message::parse(&text) {
            Ok(message) => message,
            Err(answer) => {
                let _ = say.send(answer).await;
                continue;
            }
        };
        if let Some(request) = message.cancelled() {
            // A server that loses its caller stops waiting for it.
            if let Some(work) = asked.remove(&request) {
                work.abort();
            }
            continue;
        }
        asked.retain(|_, work| !work.is_finished());
        let key = message.key();
        let (relay, say) = (relay.clone(), say.clone());
        let work = open.spawn(async move { relay.forward(message, &say).await });
        if let Some(key) = key {
            asked.insert(key, work.abort_handle());
        }
    }
    open.close();
    let _ = tokio::time::timeout(FAREWELL, open.wait()).await;
    drop(say);
    let _ = tokio::time::timeout(FAREWELL, writing).await;
    Ok(())
}
