//! What the bench says to a server: HTTP with the envelope taken off, and WebSocket frames.
//!
//! Nothing here knows which server answers. Every request has a time limit and every socket read one too.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use futures_util::StreamExt;
use serde::Deserialize;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

const REQUEST_LIMIT: Duration = Duration::from_secs(180);
const FRAME_BYTES_MAX: usize = 512 * 1024 * 1024;

#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    port: u16,
}

/// One frame of a stream; the raw and normalised logs, processes and tasks all have this form.
#[derive(Debug, Deserialize)]
pub struct Frame {
    #[serde(rename = "JsonPatch", default)]
    pub patch: Vec<Change>,
    #[serde(default)]
    pub finished: bool,
}

#[derive(Debug, Deserialize)]
pub struct Change {
    #[serde(default)]
    pub value: Value,
}

pub struct Socket(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Client {
    pub fn new(port: u16) -> Result<Client> {
        // Even a client of plain HTTP wants to know who would encrypt; a second call finds that settled.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().timeout(REQUEST_LIMIT).no_proxy().build()?;
        Ok(Client { http, port })
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub async fn get(&self, path: &str) -> Result<Value> {
        open(path, self.http.get(self.url(path)).send().await?).await
    }

    /// The bytes of an answer, unparsed: for figures in which the client's own work must not count.
    pub async fn get_bytes(&self, path: &str) -> Result<usize> {
        let answer = self.http.get(self.url(path)).send().await?.error_for_status()?;
        Ok(answer.bytes().await?.len())
    }

    pub async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        open(path, self.http.post(self.url(path)).json(body).send().await?).await
    }

    pub async fn put(&self, path: &str, body: &Value) -> Result<Value> {
        open(path, self.http.put(self.url(path)).json(body).send().await?).await
    }

    pub async fn socket(&self, path: &str) -> Result<Socket> {
        let url = format!("ws://127.0.0.1:{}{path}", self.port);
        let config = WebSocketConfig::default()
            .max_message_size(Some(FRAME_BYTES_MAX))
            .max_frame_size(Some(FRAME_BYTES_MAX));
        let connect = tokio_tungstenite::connect_async_with_config(url, Some(config), true);
        let (stream, _) =
            tokio::time::timeout(REQUEST_LIMIT, connect).await?.with_context(|| format!("socket {path}"))?;
        Ok(Socket(stream))
    }
}

async fn open(path: &str, answer: reqwest::Response) -> Result<Value> {
    let status = answer.status();
    let text = answer.text().await?;
    if !status.is_success() {
        bail!("{path}: {status} {}", text.chars().take(200).collect::<String>());
    }
    let mut envelope: Value = serde_json::from_str(&text).with_context(|| format!("{path}: not JSON"))?;
    if envelope["success"] != true {
        bail!("{path}: {}", envelope["message"]);
    }
    Ok(envelope["data"].take())
}

impl Socket {
    /// The next text frame, unparsed; `None` when the server closed or nothing came in time.
    pub async fn next_text(&mut self, limit: Duration) -> Option<String> {
        loop {
            match tokio::time::timeout(limit, self.0.next()).await {
                Ok(Some(Ok(Message::Text(text)))) => return Some(text.as_str().to_owned()),
                Ok(Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Binary(_)))) => {}
                _ => return None,
            }
        }
    }

    pub async fn next(&mut self, limit: Duration) -> Option<Frame> {
        let text = self.next_text(limit).await?;
        serde_json::from_str(&text).ok()
    }
}
