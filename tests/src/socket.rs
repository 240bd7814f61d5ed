//! A WebSocket of the server under test.

use futures_util::StreamExt;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::PATIENCE;

pub struct Socket {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// The code of the server's Close frame, once it came.
    pub closed: Option<u16>,
}

impl Socket {
    pub async fn connect(url: &str) -> Self {
        Self::open(url).await.unwrap_or_else(|error| panic!("{error}"))
    }

    /// A socket, unless the server is gone.
    pub async fn open(url: &str) -> Result<Self, String> {
        let (stream, _) = connect_async(url).await.map_err(|error| format!("{url}: {error}"))?;
        Ok(Self { stream, closed: None })
    }

    /// The next text frame; `None` after the Close frame or the end of the connection.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            let message =
                tokio::time::timeout(PATIENCE, self.stream.next()).await.expect("a frame in time")?;
            match message {
                Ok(Message::Text(text)) => return Some(serde_json::from_str(&text).expect("JSON")),
                Ok(Message::Close(frame)) => {
                    self.closed = frame.map(|frame| frame.code.into());
                    return None;
                }
                Ok(_) => {}
                Err(_) => return None,
            }
        }
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
