//! A log stream that outlives the server it comes from.
//!
//! Owns the position in the stream. Invariant: no message is lost or repeated over a reconnection, and a server that
//! stays away longer than [`PATIENCE`] ends the waiting.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use futures_util::StreamExt;
use serde_json::Value;
use tokio_tungstenite::tungstenite::Message;

use crate::client::{Client, Refused, Socket};

const PATIENCE: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(500);

pub struct Feed {
    client: Client,
    path: String,
    seen: i64,
    socket: Option<Socket>,
    away_since: Option<Instant>,
}

pub enum Step {
    /// Changes, in order.
    Changes(Vec<Value>),
    /// The server went away; the agent did not.
    Lost,
    Back,
    Finished,
}

impl Feed {
    pub fn new(client: &Client, path: String) -> Self {
        Self { client: client.clone(), path, seen: 0, socket: None, away_since: None }
    }

    /// What happens next. May be dropped and called again at any time.
    pub async fn next(&mut self) -> Result<Step> {
        loop {
            let Some(socket) = &mut self.socket else {
                match self.client.connect(&format!("{}?after={}", self.path, self.seen)).await {
                    Ok(socket) => {
                        self.socket = Some(socket);
                        if self.away_since.take().is_some() {
                            return Ok(Step::Back);
                        }
                    }
                    Err(error) => self.bear(error).await?,
                }
                continue;
            };
            match socket.next().await {
                Some(Ok(Message::Text(text))) => {
                    let mut frame: Value = serde_json::from_str(&text).unwrap_or_default();
                    self.seen = frame["seq"].as_i64().unwrap_or(self.seen);
                    if frame["finished"] == true {
                        return Ok(Step::Finished);
                    }
                    if let Value::Array(changes) = frame["JsonPatch"].take() {
                        return Ok(Step::Changes(changes));
                    }
                }
                Some(Ok(Message::Close(_)) | Err(_)) | None => {
                    self.socket = None;
                    self.away_since = Some(Instant::now());
                    return Ok(Step::Lost);
                }
                Some(Ok(_)) => {}
            }
        }
    }

    async fn bear(&mut self, error: anyhow::Error) -> Result<()> {
        let refused = error.downcast_ref::<Refused>().is_some_and(|refused| refused.status < 500);
        let since = *self.away_since.get_or_insert_with(Instant::now);
        if refused {
            return Err(error);
        }
        if since.elapsed() > PATIENCE {
            bail!("the server at {} did not come back; the agent may still be at work", self.client.base());
        }
        tokio::time::sleep(PAUSE).await;
        Ok(())
    }
}
