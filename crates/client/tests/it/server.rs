//! A server on a free port: one request a connection, and the answer's bytes as the test gives them.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

pub struct Server {
    pub base: String,
    heads: Arc<Mutex<Vec<String>>>,
}

/// The head of a request, its first line split up.
pub struct Asked {
    pub path: String,
    head: String,
}

impl Asked {
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// The upgrade to a WebSocket, and the bytes after it.
    pub fn upgrade(&self, frames: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let key = derive_accept_key(self.header("sec-websocket-key").unwrap().as_bytes());
        let head = format!(
            "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\
             sec-websocket-accept: {key}\r\n\r\n"
        );
        [vec![head.into_bytes()], frames.to_vec()].concat()
    }
}

impl Server {
    /// Each piece is sent by itself; after the last one the connection ends.
    pub async fn start(answer: impl Fn(&Asked) -> Vec<Vec<u8>> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let heads = Arc::<Mutex<Vec<String>>>::default();
        let (answer, noted) = (Arc::new(answer), heads.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, answer.clone(), noted.clone()));
            }
        });
        Self { base, heads }
    }

    /// The heads of the requests for paths that contain a word.
    pub fn asked(&self, word: &str) -> Vec<Asked> {
        let heads = self.heads.lock().unwrap().clone();
        heads.into_iter().map(read).filter(|asked| asked.path.contains(word)).collect()
    }

    pub fn paths(&self, word: &str) -> Vec<String> {
        self.asked(word).into_iter().map(|asked| asked.path).collect()
    }
}

fn read(head: String) -> Asked {
    Asked { path: head.split(' ').nth(1).unwrap_or_default().to_owned(), head }
}

async fn serve(
    mut stream: TcpStream,
    answer: Arc<impl Fn(&Asked) -> Vec<Vec<u8>>>,
    heads: Arc<Mutex<Vec<String>>>,
) {
    stream.set_nodelay(true).unwrap();
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|part| part == b"\r\n\r\n") {
            break at;
        }
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    };
    let asked = read(String::from_utf8_lossy(&bytes[..end]).into_owned());
    // A connection that is closed over unread bytes is reset.
    let length = asked.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    while bytes.len() < end + 4 + length {
        let count = stream.read(&mut buffer).await.unwrap();
        bytes.extend_from_slice(&buffer[..count]);
    }
    heads.lock().unwrap().push(asked.head.clone());
    for piece in answer(&asked) {
        stream.write_all(&piece).await.unwrap();
        tokio::task::yield_now().await;
    }
    let _ = stream.shutdown().await;
}

fn whole(status: u16, kind: &str, body: &str) -> Vec<Vec<u8>> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} x\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
    );
    vec![format!("{head}{body}").into_bytes()]
}

pub fn json(status: u16, body: &Value) -> Vec<Vec<u8>> {
    whole(status, "application/json", &body.to_string())
}

/// What a Forge reports about itself.
pub fn ready(version: &str) -> Value {
    json!({"status": "ok", "service": "forge-app", "version": version, "message": "ready"})
}

pub fn html(status: u16) -> Vec<Vec<u8>> {
    whole(status, "text/html", "<html>Bad gateway</html>")
}

/// The beginning of an answer that never ends.
pub fn cut(mut answer: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let last = answer.last_mut().unwrap();
    last.truncate(last.len() - 3);
    answer
}

/// An event stream, sent in pieces of this size.
pub fn events(text: &str, size: usize) -> Vec<Vec<u8>> {
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n".to_vec();
    let pieces = text.as_bytes().chunks(size).map(<[u8]>::to_vec);
    std::iter::once(head).chain(pieces).collect()
}

/// A short text frame of a WebSocket.
pub fn frame(value: &Value) -> Vec<u8> {
    let text = value.to_string();
    assert!(text.len() < 126, "a longer length is written differently");
    [&[0x81, text.len() as u8], text.as_bytes()].concat()
}
