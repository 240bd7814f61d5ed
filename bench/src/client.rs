//! What the bench asks a server for: data without their envelope, and WebSocket frames.
//!
//! Nothing here knows which server answers. Every request has a time limit and every socket read one too. Requests carry
//! no key that makes them have one effect: only one of the servers knows it, and its cost is not what is measured.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use forge_client::{Method, RequestBuilder, transport};
use serde::Deserialize;
use serde_json::Value;

const REQUEST_LIMIT: Duration = Duration::from_secs(180);

#[derive(Clone)]
pub struct Client(forge_client::Client);

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

pub struct Socket(forge_client::Socket);

impl Client {
    pub fn new(port: u16) -> Client {
        let transport = transport().timeout(REQUEST_LIMIT).no_proxy();
        Client(forge_client::Client::over(transport, &format!("http://127.0.0.1:{port}"), None))
    }

    pub async fn get(&self, path: &str) -> Result<Value> {
        self.send(path, self.0.request(Method::GET, path)).await
    }

    /// The bytes of an answer, unparsed: for figures in which the client's own work must not count.
    pub async fn get_bytes(&self, path: &str) -> Result<usize> {
        let answer = self.0.fetch(self.0.request(Method::GET, path)).await?;
        ensure!(answer.status().is_success(), "{path}: {}", answer.status());
        Ok(answer.bytes().await?.len())
    }

    pub async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        self.send(path, self.0.request(Method::POST, path).json(body)).await
    }

    pub async fn put(&self, path: &str, body: &Value) -> Result<Value> {
        self.send(path, self.0.request(Method::PUT, path).json(body)).await
    }

    pub async fn socket(&self, path: &str) -> Result<Socket> {
        Ok(Socket(self.0.socket(path).await.with_context(|| format!("socket {path}"))?))
    }

    async fn send(&self, path: &str, request: RequestBuilder) -> Result<Value> {
        self.0.send(request).await.with_context(|| path.to_owned())
    }
}

impl Socket {
    /// The next text frame, unparsed; `None` when the server closed or nothing came in time.
    pub async fn next_text(&mut self, limit: Duration) -> Option<String> {
        tokio::time::timeout(limit, self.0.next()).await.ok()?.ok()?
    }

    pub async fn next(&mut self, limit: Duration) -> Option<Frame> {
        let text = self.next_text(limit).await?;
        serde_json::from_str(&text).ok()
    }
}
