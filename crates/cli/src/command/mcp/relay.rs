//! One message to the server, and what the server says to it.
//!
//! Invariant: a request with an id is answered exactly once: by the server; while none runs, by what can be told without one,
//! so that a client keeps its connection until there is one; and by an error that says what to do when the server refuses
//! or breaks off. The server is looked up for every message, so a restart on another port is followed.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use futures_util::StreamExt;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use serde_json::Value;
use tokio::io::{AsyncReadExt, BufReader};
use tokio::sync::mpsc::Sender;
use tokio_util::io::StreamReader;

use forge_server::Alone;

use super::line::{Line, read_line};
use super::message::{Message, failure};
use crate::client::Whereabouts;

const INTERNAL_ERROR: i64 = -32603;
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// Longer than any tool waits.
const ANSWER_LIMIT: Duration = Duration::from_secs(900);
/// Several times what a tool tells at most.
const MAX_ANSWER_BYTES: usize = 16 << 20;
const VERSION_HEADER: &str = "mcp-protocol-version";

pub struct Relay {
    http: reqwest::Client,
    /// What the handshake settled on.
    version: Mutex<Option<String>>,
    /// Every tool is listed.
    is_advanced: bool,
}

/// Why the server has not answered.
enum Trouble {
    /// There is none, and nothing was asked.
    Away(String),
    Other(String),
}

impl From<String> for Trouble {
    fn from(words: String) -> Self {
        Trouble::Other(words)
    }
}

impl Relay {
    pub fn new(is_advanced: bool) -> Result<Self> {
        let http = reqwest::Client::builder().connect_timeout(CONNECT_LIMIT).timeout(ANSWER_LIMIT).build()?;
        Ok(Self { http, version: Mutex::default(), is_advanced })
    }

    /// Asks the server and says what it answers.
    pub async fn forward(&self, message: Message, say: &Sender<String>) {
        let mut answered = false;
        let outcome = self.ask(&message, say, &mut answered).await;
        let words = match outcome {
            Ok(()) => "the server broke off before it answered; its log tells why".to_owned(),
            Err(Trouble::Away(words)) => {
                let alone = Alone { version: env!("CARGO_PKG_VERSION"), is_advanced: self.is_advanced };
                let alone = alone.answer(message.value(), &words);
                if let Some(value) = alone.filter(|_| !answered) {
                    // Nobody listens any more if it fails.
                    let _ = self.tell(&message, value, say, &mut answered).await;
                }
                words
            }
            Err(Trouble::Other(words)) => words,
        };
        match message.id() {
            Some(id) if !answered => {
                let _ = say.send(failure(Some(id), INTERNAL_ERROR, &words)).await;
            }
            _ => {}
        }
    }

    async fn ask(&self, message: &Message, say: &Sender<String>, answered: &mut bool) -> Result<(), Trouble> {
        let place = Whereabouts::find().map_err(|error| Trouble::Away(format!("{error:#}")))?;
        let query = if self.is_advanced { "?advanced=true" } else { "" };
        let mut request = self.http.post(format!("{}/mcp{query}", place.base)).body(message.body());
        request = request.header(CONTENT_TYPE, "application/json");
        request = request.header(ACCEPT, "application/json, text/event-stream");
        if let Some(token) = &place.token {
            request = request.bearer_auth(token);
        }
        let settled = self.version.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (name, value) in self.headers(message, settled.as_deref()) {
            request = request.header(name, value);
        }
        let response = request.send().await.map_err(|error| unreachable(&place.base, &error))?;
        let status = response.status();
        let is_stream = response
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok())
            .is_some_and(|kind| kind.starts_with("text/event-stream"));
        let bytes = response.bytes_stream().map(|chunk| chunk.map_err(std::io::Error::other));
        let mut lines = BufReader::new(StreamReader::new(bytes));
        if !is_stream {
            let mut text = String::new();
            let read = lines.take(MAX_ANSWER_BYTES as u64).read_to_string(&mut text).await;
            read.map_err(|error| format!("{}: {error}", place.base))?;
            if text.trim().is_empty() && status.is_success() {
                return Ok(());
            }
            return match serde_json::from_str(&text) {
                Ok(value) if is_protocol(&value) => Ok(self.tell(message, value, say, answered).await?),
                Ok(value) => {
                    Err(format!("{}: {}", place.base, refusal(&value, &format!("status {status}"))).into())
                }
                Err(_) => Err(format!("{}: status {status}: {}", place.base, text.trim()).into()),
            };
        }
        loop {
            let line = read_line(&mut lines, MAX_ANSWER_BYTES)
                .await
                .map_err(|error| format!("{}: {error}", place.base))?;
            let Some(line) = line else { return Ok(()) };
            let Line::Whole(line) = line else {
                let words =
                    "the answer is larger than can be passed on; ask for less with max_bytes or limit";
                return Err(words.to_owned().into());
            };
            // Everything else in a stream of events is about the stream.
            let Some(data) = line.trim_end().strip_prefix("data:") else { continue };
            if let Ok(value) = serde_json::from_str::<Value>(data.trim()) {
                self.tell(message, value, say, answered).await?;
            }
        }
    }

    fn headers(&self, message: &Message, settled: Option<&str>) -> Vec<(HeaderName, HeaderValue)> {
        let header = |(name, value): (&'static str, &str)| {
            Some((HeaderName::from_static(name), HeaderValue::from_str(value).ok()?))
        };
        match message.version() {
            Some(version) => {
                let mut headers = message.headers();
                headers.push((VERSION_HEADER, version));
                headers.into_iter().filter_map(header).collect()
            }
            None if message.is_initialize() => Vec::new(),
            None => settled.and_then(|version| header((VERSION_HEADER, version))).into_iter().collect(),
        }
    }

    async fn tell(
        &self,
        message: &Message,
        value: Value,
        say: &Sender<String>,
        answered: &mut bool,
    ) -> Result<(), String> {
        if value.get("method").is_none() {
            *answered = true;
        }
        if message.is_initialize()
            && let Some(version) = value["result"]["protocolVersion"].as_str()
        {
            *self.version.lock().unwrap_or_else(PoisonError::into_inner) = Some(version.to_owned());
        }
        say.send(value.to_string()).await.map_err(|_| "nobody listens".to_owned())
    }
}

fn is_protocol(value: &Value) -> bool {
    value["jsonrpc"] == "2.0"
}

/// What the door says when it lets nobody in.
fn refusal(value: &Value, otherwise: &str) -> String {
    value["message"].as_str().unwrap_or(otherwise).to_owned()
}

fn unreachable(base: &str, error: &reqwest::Error) -> Trouble {
    if error.is_timeout() && !error.is_connect() {
        return Trouble::Other(format!("no answer from {base} within {} s", ANSWER_LIMIT.as_secs()));
    }
    let words = format!(
        "no Forge answers at {base}. Start one with `forge serve`, or set FORGE_BACKEND_URL to where one runs, and try \
         again"
    );
    match error.is_connect() {
        true => Trouble::Away(words),
        false => Trouble::Other(words),
    }
}
