//! Sends one message to the server and forwards the responses.
//!
//! Invariant: a request with an id gets exactly one response: from the server; without one, from what is known locally,
//! so that a client keeps its connection until one starts; or an error that says what to do when the server refuses
//! or disconnects. The server is looked up for every message, so a restart on another port works.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use forge_client::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use forge_client::{Client, Error, Kind, Method};
use forge_types::wire::Failure;
use futures_util::StreamExt;
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
/// Several times the maximum output of a tool.
const MAX_ANSWER_BYTES: usize = 16 << 20;
const VERSION_HEADER: &str = "mcp-protocol-version";

pub struct Relay {
    client: Client,
    /// The version negotiated in the handshake.
    version: Mutex<Option<String>>,
    /// List every tool.
    is_advanced: bool,
}

/// Why the server did not respond.
enum Trouble {
    /// There is no server, and no request was sent.
    Away(String),
    Other(String),
}

impl From<String> for Trouble {
    fn from(words: String) -> Self {
        Trouble::Other(words)
    }
}

impl Relay {
    pub fn new(is_advanced: bool) -> Self {
        let transport = forge_client::transport().connect_timeout(CONNECT_LIMIT).timeout(ANSWER_LIMIT);
        // Where the server is turns out with each message.
        let client = Client::over(transport, "", None);
        Self { client, version: Mutex::default(), is_advanced }
    }

    /// Sends the message to the server and forwards its responses.
    pub async fn forward(&self, message: Message, out: &Sender<String>) {
        let mut answered = false;
        let outcome = self.ask(&message, out, &mut answered).await;
        let words = match outcome {
            Ok(()) => "the server disconnected before it responded; see its log".to_owned(),
            Err(Trouble::Away(words)) => {
                let alone = Alone { version: env!("CARGO_PKG_VERSION"), is_advanced: self.is_advanced };
                let alone = alone.answer(message.value(), &words);
                if let Some(value) = alone.filter(|_| !answered) {
                    // It fails only if nobody reads the output any more.
                    let _ = self.pass_on(&message, value, out, &mut answered).await;
                }
                words
            }
            Err(Trouble::Other(words)) => words,
        };
        match message.id() {
            Some(id) if !answered => {
                let _ = out.send(failure(Some(id), INTERNAL_ERROR, &words)).await;
            }
            _ => {}
        }
    }

    async fn ask(&self, message: &Message, out: &Sender<String>, answered: &mut bool) -> Result<(), Trouble> {
        let place = Whereabouts::find().map_err(|error| Trouble::Away(format!("{error:#}")))?;
        let query = if self.is_advanced { "?advanced=true" } else { "" };
        let client = self.client.at(&place.base, place.token);
        let mut request = client.request(Method::POST, &format!("/mcp{query}")).body(message.body());
        request = request.header(CONTENT_TYPE, "application/json");
        request = request.header(ACCEPT, "application/json, text/event-stream");
        let settled = self.version.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (name, value) in self.headers(message, settled.as_deref()) {
            request = request.header(name, value);
        }
        let response = client.fetch(request).await.map_err(|error| unreachable(&place.base, &error))?;
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
                Ok(value) if is_protocol(&value) => Ok(self.pass_on(message, value, out, answered).await?),
                // Its refusal, e.g. without a token.
                Ok(value) => {
                    let failure: Failure = serde_json::from_value(value).unwrap_or_default();
                    let words = failure.message.unwrap_or_else(|| format!("status {status}"));
                    Err(format!("{}: {words}", place.base).into())
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
                let words = "the response is too large to pass on; request less with max_bytes or limit";
                return Err(words.to_owned().into());
            };
            // Other lines of an event stream are not data.
            let Some(data) = line.trim_end().strip_prefix("data:") else { continue };
            if let Ok(value) = serde_json::from_str::<Value>(data.trim()) {
                self.pass_on(message, value, out, answered).await?;
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

    async fn pass_on(
        &self,
        message: &Message,
        value: Value,
        out: &Sender<String>,
        answered: &mut bool,
    ) -> Result<(), String> {
        if value.get("method").is_none() {
            *answered = true;
        }
        if message.is_initialize()
            && let Some(version) = value.pointer("/result/protocolVersion").and_then(Value::as_str)
        {
            *self.version.lock().unwrap_or_else(PoisonError::into_inner) = Some(version.to_owned());
        }
        out.send(value.to_string()).await.map_err(|_| "nobody reads the output".to_owned())
    }
}

fn is_protocol(value: &Value) -> bool {
    value.get("jsonrpc").is_some_and(|version| version == "2.0")
}

fn unreachable(base: &str, error: &Error) -> Trouble {
    if error.kind == Kind::TimedOut {
        return Trouble::Other(format!("no response from {base} within {} s", ANSWER_LIMIT.as_secs()));
    }
    let words = format!(
        "no Forge answers at {base}. Start one with `forge serve`, or set FORGE_BACKEND_URL to the address of one, and \
         try again"
    );
    match error.kind == Kind::Unreachable {
        true => Trouble::Away(words),
        false => Trouble::Other(words),
    }
}
