//! A WebSocket of the server under test.

use forge_client::{Client, Error};
use serde_json::Value;

use crate::PATIENCE;

pub struct Socket {
    frames: forge_client::Socket,
    /// The code of the server's Close frame, once it came.
    pub closed: Option<u16>,
}

impl Socket {
    /// A socket, unless the server is gone.
    pub async fn open(client: &Client, path: &str) -> Result<Self, Error> {
        Ok(Self { frames: client.socket(path).await?, closed: None })
    }

    /// The next text frame; `None` after the Close frame or the end of the connection.
    pub async fn next(&mut self) -> Option<Value> {
        let next = tokio::time::timeout(PATIENCE, self.frames.next()).await.expect("a frame in time");
        self.closed = self.frames.closed;
        Some(serde_json::from_str(&next.ok()??).expect("JSON"))
    }

    /// Every frame until the server closes.
    pub async fn until_closed(&mut self) -> Vec<Value> {
        let mut frames = Vec::new();
        while let Some(frame) = self.next().await {
            frames.push(frame);
        }
        frames
    }
}
