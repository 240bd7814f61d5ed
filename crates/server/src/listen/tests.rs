//! Shutdown against clients that do not cooperate.

use std::net::SocketAddr;

use axum::routing::get;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;

/// Twice the promised time, so that a busy machine does not fail the test.
const PATIENCE: Duration = Duration::from_secs(3);

async fn start(shutdown: &CancellationToken) -> (SocketAddr, tokio::task::JoinHandle<()>) {
    let slow = || async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        "done"
    };
    let never = || std::future::pending::<&'static str>();
    let router = Router::new().route("/slow", get(slow)).route("/never", get(never));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (address, tokio::spawn(accept(listener, router, Sight::Address, shutdown.clone(), TaskTracker::new())))
}

async fn connect(address: SocketAddr, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    stream
}

#[tokio::test]
async fn idle_half_open_and_stuck_clients_do_not_hold_up_the_end() {
    let shutdown = CancellationToken::new();
    let (address, server) = start(&shutdown).await;
    let mut clients = Vec::new();
    for text in ["", "GET /slow HTTP/1.1\r\nHost:", "GET /never HTTP/1.1\r\nHost: localhost\r\n\r\n"] {
        clients.push(connect(address, text).await);
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    shutdown.cancel();
    tokio::time::timeout(PATIENCE, server).await.expect("the server must return").unwrap();
    for mut client in clients {
        let end = tokio::time::timeout(PATIENCE, client.read_to_end(&mut Vec::new())).await;
        assert!(end.is_ok(), "a connection outlived the server");
    }
}

#[tokio::test]
async fn a_request_in_flight_is_answered_before_the_end() {
    let shutdown = CancellationToken::new();
    let (address, server) = start(&shutdown).await;
    let mut client = connect(address, "GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    shutdown.cancel();
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("done"), "{answer}");
    tokio::time::timeout(PATIENCE, server).await.expect("the server must return").unwrap();
    assert!(TcpStream::connect(address).await.is_err(), "nobody may listen after the end");
}
