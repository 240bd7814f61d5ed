//! Server-sent events, read line by line.
//!
//! Invariant: a message comes out once and whole, however the network cuts it, and also when a call of `next` is dropped
//! half way; a stream that was cut continues after the last id; one that has been silent for longer than the server ever
//! is has ended.

use std::collections::VecDeque;
use std::time::Duration;

use forge_types::wire::WireEvent;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Method, Response};
use serde_json::json;
use tokio::time::timeout;

use crate::client::Client;
use crate::error::{Error, Kind};

/// A stream is open, or refused, in this time.
const OPEN_LIMIT: Duration = Duration::from_secs(15);
/// The server sends something every 15 seconds.
const SILENCE: Duration = Duration::from_secs(50);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    pub id: Option<i64>,
    /// Empty for messages without a name.
    pub event: String,
    pub data: String,
}

impl Message {
    /// What happened; for the stream of `/api/events`, which has the parts of an event in separate lines.
    pub fn read(&self) -> serde_json::Result<WireEvent> {
        serde_json::from_str(&format!(r#"{{"event":{},"data":{}}}"#, json!(self.event), self.data))
    }
}

pub struct Events {
    client: Client,
    path: String,
    answer: Response,
    parser: Parser,
    last_id: Option<i64>,
}

impl Events {
    pub(crate) async fn open(client: &Client, path: &str) -> Result<Self, Error> {
        let answer = ask(client, path, None).await?;
        let parser = Parser::default();
        Ok(Self { client: client.clone(), path: path.to_owned(), answer, parser, last_id: None })
    }

    /// Opens the stream again where it was cut: after the last id that came.
    pub async fn resume(&mut self) -> Result<(), Error> {
        self.answer = ask(&self.client, &self.path, self.last_id).await?;
        self.parser = Parser::default();
        Ok(())
    }

    /// The next message; `None` when the server ended the stream. May be dropped and called again.
    pub async fn next(&mut self) -> Result<Option<Message>, Error> {
        loop {
            if let Some(message) = self.ready() {
                return Ok(Some(message));
            }
            if !self.read().await? {
                return Ok(None);
            }
        }
    }

    /// What has come already, without waiting.
    pub fn ready(&mut self) -> Option<Message> {
        let message = self.parser.ready.pop_front()?;
        self.last_id = message.id.or(self.last_id);
        Some(message)
    }

    /// Waits for more bytes, comments included. Returns whether the stream continues.
    pub(crate) async fn read(&mut self) -> Result<bool, Error> {
        let chunk = timeout(SILENCE, self.answer.chunk()).await;
        let chunk = chunk.map_err(|_| Error::cut("the stream went silent"))?.map_err(Error::cut)?;
        if let Some(bytes) = &chunk {
            self.parser.take(bytes);
        }
        Ok(chunk.is_some())
    }
}

async fn ask(client: &Client, path: &str, last_id: Option<i64>) -> Result<Response, Error> {
    let mut request = client.request(Method::GET, path);
    if let Some(id) = last_id {
        request = request.header("last-event-id", id);
    }
    let asking = async {
        let answer = client.fetch(request).await?;
        let (status, kind) = (answer.status().as_u16(), answer.headers().get(CONTENT_TYPE).cloned());
        let is_events = kind.as_ref().is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        match is_events && status == 200 {
            true => Ok(answer),
            false => Err(Error::unopened(status, kind.as_ref(), &answer.bytes().await.unwrap_or_default())),
        }
    };
    let late = |_| Error::away(Kind::TimedOut, client.base());
    timeout(OPEN_LIMIT, asking).await.map_err(late)?
}

#[derive(Default)]
struct Parser {
    /// The line that is not complete yet.
    rest: Vec<u8>,
    message: Message,
    ready: VecDeque<Message>,
}

impl Parser {
    fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match byte {
                b'\n' => {
                    let line = std::mem::take(&mut self.rest);
                    self.line(&String::from_utf8_lossy(&line));
                }
                byte => self.rest.push(*byte),
            }
        }
    }

    fn line(&mut self, line: &str) {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.is_empty() {
            let message = std::mem::take(&mut self.message);
            if !message.data.is_empty() {
                self.ready.push_back(message);
            }
            return;
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "id" => self.message.id = value.parse().ok(),
            "event" => self.message.event = value.to_owned(),
            "data" => {
                if !self.message.data.is_empty() {
                    self.message.data.push('\n');
                }
                self.message.data.push_str(value);
            }
            // A comment, or something newer than this.
            _ => {}
        }
    }
}
