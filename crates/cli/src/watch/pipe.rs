//! The frames of one stream, over whatever gets through.
//!
//! Invariant: frames come out whole and in order, also when a call of `next` is dropped half way; a pipe that has been
//! silent for longer than the server ever is has ended.

use std::collections::VecDeque;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use futures_util::StreamExt;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

use crate::client::{Client, Socket, Way};

/// A server pings its sockets every 30 s and its event streams every 15 s.
const SILENCE: Duration = Duration::from_secs(75);
/// An event stream begins with a comment. What comes later than this is held back on its way.
const FIRST_SIGN: Duration = Duration::from_secs(5);
/// How long the server holds a request for a page back while there is nothing to tell.
const PAGE_WAIT_MS: u64 = 20_000;
const PAGE_LIMIT: Duration = Duration::from_secs(60);
/// Between two pages when there is no more at the moment.
const PAGE_PAUSE: Duration = Duration::from_millis(100);

pub enum Pipe {
    Socket(Box<Socket>),
    Events(Events),
    Pages(Pages),
}

impl Pipe {
    pub async fn open(client: &Client, way: Way, path: &str, query: &str, seen: i64) -> Result<Self> {
        Ok(match way {
            Way::Socket => {
                Self::Socket(Box::new(client.connect(&format!("{path}/ws?{query}after={seen}")).await?))
            }
            Way::Events => Self::Events(Events::open(client, path, query, seen).await?),
            Way::Pages => Self::Pages(Pages::open(client, path, query, seen, Tail::Awaited).await?),
        })
    }

    /// What there is at this moment.
    pub async fn so_far(client: &Client, path: &str, query: &str, seen: i64) -> Result<Self> {
        Ok(Self::Pages(Pages::open(client, path, query, seen, Tail::LeftOut).await?))
    }

    /// The next frame; `None` when there are no more, and an error when they do not come this way any more.
    pub async fn next(&mut self) -> Result<Option<Value>> {
        match self {
            Self::Pages(pages) => pages.next().await,
            Self::Events(events) => loop {
                if let Some(frame) = events.take_frame() {
                    return Ok(Some(frame));
                }
                timeout(SILENCE, events.read()).await??;
            },
            Self::Socket(socket) => loop {
                match timeout(SILENCE, socket.next()).await? {
                    Some(Ok(Message::Text(text))) => {
                        return Ok(Some(serde_json::from_str(&text).unwrap_or_default()));
                    }
                    Some(Ok(Message::Close(_))) | None => bail!("the stream has ended"),
                    Some(message) => drop(message?),
                }
            },
        }
    }
}

/// Server-sent events.
pub struct Events {
    answer: reqwest::Response,
    bytes: Vec<u8>,
}

impl Events {
    async fn open(client: &Client, path: &str, query: &str, seen: i64) -> Result<Self> {
        let opening = async {
            let answer = client.listen(&format!("{path}/sse?{query}after={seen}")).await?;
            let mut events = Self { answer, bytes: Vec::new() };
            events.read().await.map(|()| events)
        };
        timeout(FIRST_SIGN, opening).await.context("the stream is held back on its way")?
    }

    async fn read(&mut self) -> Result<()> {
        match self.answer.chunk().await? {
            Some(chunk) => self.bytes.extend_from_slice(&chunk),
            None => bail!("the stream has ended"),
        }
        Ok(())
    }

    /// The first whole frame that was read. The server writes one `data:` line a message.
    fn take_frame(&mut self) -> Option<Value> {
        while let Some(end) = self.bytes.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.bytes.drain(..=end).collect();
            if let Some(data) = line.strip_prefix(b"data:") {
                return Some(serde_json::from_slice(data).unwrap_or_default());
            }
        }
        None
    }
}

/// What becomes of frames that are not there yet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tail {
    Awaited,
    LeftOut,
}

/// One question after another.
pub struct Pages {
    client: Client,
    address: String,
    seen: i64,
    tail: Tail,
    page: Page,
}

#[derive(Deserialize)]
struct Page {
    frames: VecDeque<Value>,
    finished: bool,
    more: bool,
}

impl Pages {
    async fn open(client: &Client, path: &str, query: &str, seen: i64, tail: Tail) -> Result<Self> {
        let address = format!("{path}?{query}");
        let page = ask(client, &address, seen, 0).await?;
        Ok(Self { client: client.clone(), address, seen, tail, page })
    }

    async fn next(&mut self) -> Result<Option<Value>> {
        loop {
            if let Some(frame) = self.page.frames.pop_front() {
                self.seen = frame["seq"].as_i64().unwrap_or(self.seen);
                return Ok(Some(frame));
            }
            if self.page.finished || (self.tail == Tail::LeftOut && !self.page.more) {
                return Ok(None);
            }
            let wait_ms = if self.page.more { 0 } else { PAGE_WAIT_MS };
            if !self.page.more {
                tokio::time::sleep(PAGE_PAUSE).await;
            }
            self.page = ask(&self.client, &self.address, self.seen, wait_ms).await?;
        }
    }
}

async fn ask(client: &Client, address: &str, seen: i64, wait_ms: u64) -> Result<Page> {
    let path = format!("{address}after={seen}&wait_ms={wait_ms}");
    timeout(PAGE_LIMIT, client.get(&path)).await.context("no answer to a page")?
}
