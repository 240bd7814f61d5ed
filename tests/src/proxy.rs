//! A proxy between a client and the server under test that does not let everything through.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What becomes of a kind of stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    Passes,
    /// Answered with a page of the proxy's own.
    Refused,
    /// The connection is closed without a word.
    Cut,
    /// The answer is kept until it is whole, which a stream never is.
    HeldBack,
}

pub struct Proxy {
    base: String,
    target: Arc<Mutex<String>>,
    refused: Arc<AtomicUsize>,
    accepting: JoinHandle<()>,
}

impl Proxy {
    /// Stands before the server at `target`, an address such as `http://127.0.0.1:1234`.
    pub async fn start(target: &str, sockets: Treatment, events: Treatment) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        let target = Arc::new(Mutex::new(address(target)));
        let refused = Arc::new(AtomicUsize::new(0));
        let (count, aim) = (refused.clone(), target.clone());
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (target, count) = (aim.lock().expect("a target").clone(), count.clone());
                tokio::spawn(async move {
                    let _ = relay(client, &target, sockets, events, &count).await;
                });
            }
        });
        Self { base, target, refused, accepting }
    }

    pub fn base(&self) -> &str {
        &self.base
    }

    /// Stands before another server from now on.
    pub fn aim(&self, target: &str) {
        *self.target.lock().expect("a target") = address(target);
    }

    /// How many streams did not get through.
    pub fn refused(&self) -> usize {
        self.refused.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

fn address(base: &str) -> String {
    base.trim_start_matches("http://").to_owned()
}

/// One request a connection: the client learns that it is closed after the answer.
async fn relay(
    mut client: TcpStream,
    target: &str,
    sockets: Treatment,
    events: Treatment,
    refused: &AtomicUsize,
) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(client.read_u8().await?);
    }
    let text = String::from_utf8_lossy(&head).to_ascii_lowercase();
    let treatment = match (text.contains("upgrade: websocket"), text.contains("/sse?")) {
        (true, _) => sockets,
        (_, true) => events,
        _ => Treatment::Passes,
    };
    if treatment != Treatment::Passes {
        refused.fetch_add(1, Ordering::SeqCst);
    }
    match treatment {
        Treatment::Cut => return Ok(()),
        Treatment::Refused => {
            let page = "<html>not here</html>";
            let answer = format!(
                "HTTP/1.1 403 Forbidden\r\ncontent-type: text/html\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{page}",
                page.len()
            );
            return client.write_all(answer.as_bytes()).await;
        }
        Treatment::HeldBack | Treatment::Passes => {}
    }
    let mut server = TcpStream::connect(target).await?;
    let is_socket = text.contains("upgrade: websocket");
    server.write_all(&with_close(&head, is_socket)).await?;
    if treatment == Treatment::HeldBack {
        let mut held = Vec::new();
        // Until the client gives up, or the answer is whole.
        tokio::select! {
            _ = server.read_to_end(&mut held) => return client.write_all(&held).await,
            _ = client.read_u8() => return Ok(()),
        }
    }
    tokio::io::copy_bidirectional(&mut client, &mut server).await.map(drop)
}

fn with_close(head: &[u8], is_socket: bool) -> Vec<u8> {
    if is_socket {
        return head.to_vec();
    }
    let mut lines = head[..head.len() - 2].to_vec();
    lines.extend_from_slice(b"connection: close\r\n\r\n");
    lines
}
