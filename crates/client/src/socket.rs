//! One WebSocket of the server.
//!
//! Invariant: frames come out whole and in order, also when a call of `next` is dropped half way; a socket that has been
//! silent for longer than the server ever is has ended.

use std::time::Duration;

use futures_util::StreamExt;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::{HeaderValue, header};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};

use crate::error::{Error, Kind};

/// A socket is open, or refused, in this time.
const OPEN_LIMIT: Duration = Duration::from_secs(10);
/// A server pings its sockets every 30 s.
const SILENCE: Duration = Duration::from_secs(75);
/// A frame of a diff or of a log can be large; the server decides.
const FRAME_BYTES_MAX: usize = 512 << 20;

pub struct Socket {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// The code of the server's Close frame, once it came.
    pub closed: Option<u16>,
}

impl Socket {
    pub(crate) async fn open(base: &str, path: &str, token: Option<&str>) -> Result<Self, Error> {
        let unreachable = |_: tungstenite::Error| Error::away(Kind::Unreachable, base);
        let url = format!("{}{path}", base.replacen("http", "ws", 1));
        let mut request = url.into_client_request().map_err(unreachable)?;
        if let Some(token) = token {
            let value = HeaderValue::try_from(format!("Bearer {token}"));
            let value = value.map_err(|error| unreachable(error.into()))?;
            request.headers_mut().insert(header::AUTHORIZATION, value);
        }
        let config = WebSocketConfig::default()
            .max_message_size(Some(FRAME_BYTES_MAX))
            .max_frame_size(Some(FRAME_BYTES_MAX));
        let handshake = connect_async_with_config(request, Some(config), true);
        let opened = timeout(OPEN_LIMIT, handshake).await;
        match opened.map_err(|_| Error::away(Kind::TimedOut, base))? {
            Ok((stream, _)) => Ok(Self { stream, closed: None }),
            Err(tungstenite::Error::Http(answer)) => {
                let kind = answer.headers().get(header::CONTENT_TYPE);
                let body = answer.body().as_deref().unwrap_or_default();
                Err(Error::unopened(answer.status().as_u16(), kind, body))
            }
            Err(error) => Err(unreachable(error)),
        }
    }

    /// The next text; `None` when the server has closed the socket.
    pub async fn next(&mut self) -> Result<Option<String>, Error> {
        loop {
            let message = timeout(SILENCE, self.stream.next()).await;
            match message.map_err(|_| Error::cut("the stream went silent"))? {
                Some(Ok(Message::Text(text))) => return Ok(Some(text.as_str().to_owned())),
                Some(Ok(Message::Close(frame))) => {
                    self.closed = frame.map(|frame| frame.code.into());
                    return Ok(None);
                }
                None => return Ok(None),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(Error::cut(error)),
            }
        }
    }
}
