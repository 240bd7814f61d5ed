//! `forge mcp`: the server's `/mcp` for programs that use standard input and output.
//!
//! Forwards messages: each input line is one request to the server, and its responses are output lines.
//! The server implements the tools. Invariant: standard output carries the protocol and nothing else; every
//! request with an id gets a response, even without a server; the program ends soon after its input.

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

/// As much as the server accepts.
const MAX_LINE_BYTES: usize = 2 << 20;
/// Lines buffered for a slow reader; when full, the server waits too.
const WAITING_LINES: usize = 64;
/// How long open requests may take after the input has ended.
const FAREWELL: Duration = Duration::from_secs(5);

#[derive(clap::Args)]
#[group(skip)]
pub struct Flags {
    /// List every tool, not only the common ones
    #[arg(long, hide = true)]
    advanced: bool,
}

pub fn run(flags: Flags) -> Result<()> {
    block_on(bridge(flags.advanced))
}

async fn bridge(is_advanced: bool) -> Result<()> {
    let relay = Arc::new(Relay::new(is_advanced));
    let (out, mut lines) = mpsc::channel::<String>(WAITING_LINES);
    let mut writing = tokio::spawn(async move {
        let mut out = tokio::io::stdout();
        while let Some(line) = lines.recv().await {
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
            // Nobody reads the output any more.
            _ = &mut writing => return Ok(()),
        };
        let text = match line {
            None => break,
            Some(Line::Whole(text)) if text.trim().is_empty() => continue,
            Some(Line::Whole(text)) => text,
            Some(Line::TooLong) => {
                let words = format!("the line is longer than the limit of {} bytes", MAX_LINE_BYTES);
                let _ = out.send(failure(None, PARSE_ERROR, &words)).await;
                continue;
            }
        };
        let message = match Message::parse(&text) {
            Ok(message) => message,
            Err(answer) => {
                let _ = out.send(answer).await;
                continue;
            }
        };
        if let Some(request) = message.cancelled() {
            // When the connection closes, the server cancels the request.
            if let Some(work) = asked.remove(&request) {
                work.abort();
            }
            continue;
        }
        asked.retain(|_, work| !work.is_finished());
        let key = message.key();
        let (relay, out) = (relay.clone(), out.clone());
        let work = open.spawn(async move { relay.forward(message, &out).await });
        if let Some(key) = key {
            asked.insert(key, work.abort_handle());
        }
    }
    open.close();
    let _ = tokio::time::timeout(FAREWELL, open.wait()).await;
    drop(out);
    let _ = tokio::time::timeout(FAREWELL, writing).await;
    Ok(())
}
