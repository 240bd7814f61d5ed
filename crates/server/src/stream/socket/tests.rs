//! A real socket on a real port, fed by hand-made sources.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::routing::get;
use forge_core::Kind;
use futures_util::stream;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio_tungstenite::tungstenite::{self, protocol::frame::coding::CloseCode};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use super::*;

type Client = WebSocketStream<MaybeTlsStream<TcpStream>>;

async fn connect<F, S>(shutdown: CancellationToken, source: F) -> Client
where
    F: Fn() -> S + Clone + Send + Sync + 'static,
    S: Stream<Item = Result<Batch, Error>> + Send + 'static,
{
    connect_until(shutdown, source, Arc::default()).await
}

/// The same; `left` is notified when the server has left the socket.
async fn connect_until<F, S>(shutdown: CancellationToken, source: F, left: Arc<Notify>) -> Client
where
    F: Fn() -> S + Clone + Send + Sync + 'static,
    S: Stream<Item = Result<Batch, Error>> + Send + 'static,
{
    let handler = move |upgrade: WebSocketUpgrade| async move {
        upgrade.on_upgrade(async move |socket| {
            drive(socket, source(), shutdown).await;
            left.notify_one();
        })
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, Router::new().route("/", get(handler))).await });
    connect_async(format!("ws://{address}/")).await.unwrap().0
}

/// All text frames, and the code with which the server closed.
async fn read(mut client: Client) -> (Vec<String>, Option<CloseCode>) {
    let mut texts = Vec::new();
    let all = async {
        while let Some(Ok(message)) = client.next().await {
            match message {
                tungstenite::Message::Text(text) => texts.push(text.to_string()),
                tungstenite::Message::Close(frame) => return frame.map(|frame| frame.code),
                _ => {}
            }
        }
        None
    };
    let code = timeout(Duration::from_secs(10), all).await.expect("the server must close the socket");
    (texts, code)
}

#[tokio::test]
async fn a_source_that_ends_closes_with_1000_after_its_last_frame() {
    let source = || stream::iter([Ok(vec!["a".into(), "b".into()]), Ok(vec!["c".into()])]);
    let (texts, code) = read(connect(CancellationToken::new(), source).await).await;
    assert_eq!((texts.join("").as_str(), code), ("abc", Some(CloseCode::Normal)));
}

#[tokio::test]
async fn a_source_that_fails_closes_with_1011_after_what_it_had() {
    let source = || stream::iter([Ok(vec!["a".into()]), Err(Error::new(Kind::Internal, "disk"))]);
    let (texts, code) = read(connect(CancellationToken::new(), source).await).await;
    assert_eq!((texts.join("").as_str(), code), ("a", Some(CloseCode::Error)));
}

#[tokio::test]
async fn a_waiting_source_is_flushed_and_ends_with_1001_on_shutdown() {
    let shutdown = CancellationToken::new();
    let source = || stream::iter([Ok(vec!["a".into()])]).chain(stream::pending());
    let mut client = connect(shutdown.clone(), source).await;
    let first = timeout(Duration::from_secs(10), client.next()).await.unwrap().unwrap().unwrap();
    assert_eq!(first.to_text().unwrap(), "a");
    shutdown.cancel();
    assert_eq!(read(client).await.1, Some(CloseCode::Away));
}

#[tokio::test]
async fn a_client_that_reads_nothing_is_not_read_ahead_for() {
    let pulled = Arc::new(AtomicUsize::new(0));
    let counter = pulled.clone();
    let shutdown = CancellationToken::new();
    let source = move || {
        let counter = counter.clone();
        stream::repeat_with(move || {
            counter.fetch_add(1, Ordering::Relaxed);
            Ok(vec!["x".repeat(64 << 10).into()])
        })
    };
    let client = connect(shutdown.clone(), source).await;
    // The source never ends, so the count can only stop because nobody takes frames.
    let mut before = usize::MAX;
    while pulled.load(Ordering::Relaxed) != before {
        before = pulled.load(Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    assert!(before > 0, "the source was never asked");
    assert!(before < 1000, "{before} batches of 64 KiB were pulled for a client that reads nothing");
    shutdown.cancel();
    drop(client);
}

#[tokio::test]
async fn a_client_that_reads_slowly_gets_the_end_of_a_source_that_ended_long_ago() {
    const FRAME: usize = 64 << 10;
    let (pulled, stop) = (Arc::new(AtomicUsize::new(0)), CancellationToken::new());
    let (counter, stopped) = (pulled.clone(), stop.clone());
    let source = move || {
        let (counter, stopped) = (counter.clone(), stopped.clone());
        let frames = stream::repeat_with(move || {
            counter.fetch_add(1, Ordering::Relaxed);
            Ok(vec!["x".repeat(FRAME).into()])
        });
        frames.take_while(move |_| ready(!stopped.is_cancelled()))
    };
    let left = Arc::new(Notify::new());
    let mut client = connect_until(CancellationToken::new(), source, left.clone()).await;
    let mut before = usize::MAX;
    while pulled.load(Ordering::Relaxed) != before {
        before = pulled.load(Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    // Every buffer is full. The source ends, and the client reads just enough for the server to see that.
    stop.cancel();
    let mut count = 0;
    while pulled.load(Ordering::Relaxed) == before {
        client.next().await.unwrap().unwrap();
        count += 1;
    }
    // Only a server that loses what the client has not taken leaves now.
    let _ = timeout(2 * FAREWELL, left.notified()).await;
    let (texts, code) = read(client).await;
    assert_eq!((count + texts.len(), code), (before, Some(CloseCode::Normal)));
}

#[tokio::test]
async fn a_client_that_closes_gets_its_close_answered() {
    let mut client = connect(CancellationToken::new(), stream::pending).await;
    client.close(None).await.unwrap();
    let answered = timeout(Duration::from_secs(10), async {
        while let Some(message) = client.next().await {
            message.unwrap();
        }
    });
    answered.await.expect("the server must answer the close");
}

/// Bytes of a client that breaks the protocol, after a proper handshake.
#[tokio::test]
async fn bad_frames_end_with_the_code_of_what_is_wrong() {
    let masked = |first: u8, body: &[u8]| [&[first, 0x80 | body.len() as u8, 0, 0, 0, 0], body].concat();
    let huge = [&[0x82, 0xff][..], &(1u64 << 40).to_be_bytes(), &[0; 4]].concat();
    for (bytes, code) in [
        (masked(0xf1, b"reserved bits"), CloseCode::Protocol),
        (masked(0x83, b"no such kind"), CloseCode::Protocol),
        (vec![0x81, 1, b'x'], CloseCode::Protocol),
        (masked(0x81, &[0xff, 0xfe]), CloseCode::Invalid),
        (huge, CloseCode::Size),
    ] {
        let mut client = connect(CancellationToken::new(), stream::pending).await;
        let MaybeTlsStream::Plain(tcp) = client.get_mut() else { panic!("no TLS here") };
        tcp.write_all(&bytes).await.unwrap();
        assert_eq!(read(client).await.1, Some(code), "{bytes:?}");
    }
}
