//! Streams over a real port.

use std::time::Duration;

use forge_core::Forge;
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::{self, protocol::frame::coding::CloseCode};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::world::{UNKNOWN, World, door};

pub const PATIENCE: Duration = Duration::from_secs(10);

pub type Client = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// The world's engine behind a real listener.
pub async fn serve(world: &World) -> (String, JoinHandle<std::io::Result<()>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let forge: Forge = world.forge.clone();
    let server = forge_server::serve(listener, forge, door(), world.shutdown.clone());
    (address, tokio::spawn(server))
}

pub async fn connect(address: &str, path: &str) -> Client {
    connect_async(format!("ws://{address}{path}")).await.unwrap().0
}

pub async fn next(client: &mut Client) -> Value {
    loop {
        match timeout(PATIENCE, client.next()).await.expect("a frame must come").unwrap().unwrap() {
            tungstenite::Message::Text(text) => return serde_json::from_str(&text).unwrap(),
            tungstenite::Message::Close(frame) => panic!("closed: {frame:?}"),
            _ => {}
        }
    }
}

pub async fn close_code(mut client: Client) -> Option<CloseCode> {
    let code = async {
        while let Some(Ok(message)) = client.next().await {
            if let tungstenite::Message::Close(frame) = message {
                return frame.map(|frame| frame.code);
            }
        }
        None
    };
    timeout(PATIENCE, code).await.expect("the server must close the socket")
}

#[tokio::test]
async fn a_task_is_seen_from_snapshot_to_removal() {
    let world = World::new().await;
    let project = world.project().await;
    let first = world.task(&project, "first").await;
    let (address, _server) = serve(&world).await;
    for path in [
        format!("/api/tasks/stream/ws?project_id={project}"),
        format!("/api/projects/{project}/tasks/stream/ws"),
    ] {
        let mut client = connect(&address, &path).await;
        let snapshot = next(&mut client).await;
        assert_eq!(snapshot.as_object().unwrap().len(), 1);
        let patch = &snapshot["JsonPatch"][0];
        assert_eq!((&patch["op"], &patch["path"]), (&json!("replace"), &json!("/tasks")));
        assert_eq!(patch["value"][&first]["title"], "first");

        let second = world.task(&project, "second").await;
        let path = format!("/tasks/{second}");
        let added = next(&mut client).await["JsonPatch"][0].clone();
        assert_eq!((&added["op"], &added["path"]), (&json!("add"), &json!(path)));
        assert_eq!(added["value"]["attempt_count"], 0);
        let url = format!("/api/tasks/{second}");
        world.ask("PUT", &url, Some(json!({"status": "done"}))).await;
        let changed = next(&mut client).await["JsonPatch"][0].clone();
        assert_eq!((&changed["op"], &changed["value"]["status"]), (&json!("replace"), &json!("done")));
        world.ask("DELETE", &url, None).await;
        assert_eq!(next(&mut client).await["JsonPatch"], json!([{"op": "remove", "path": path}]));
    }
    world.close().await;
}

#[tokio::test]
async fn a_client_that_comes_back_gets_only_what_it_missed() {
    let world = World::new().await;
    let project = world.project().await;
    world.task(&project, "before").await;
    let (address, _server) = serve(&world).await;
    let path = format!("/api/tasks/stream/ws?project_id={project}&after=");
    let mut client = connect(&address, &format!("{path}0")).await;
    let snapshot = next(&mut client).await;
    let seq = snapshot["seq"].as_i64().expect("a numbered snapshot");
    assert_eq!(snapshot["JsonPatch"][0]["path"], "/tasks");
    drop(client);

    let missed = world.task(&project, "missed").await;
    let mut client = connect(&address, &format!("{path}{seq}")).await;
    let frame = next(&mut client).await;
    assert!(frame["seq"].as_i64().unwrap() > seq);
    assert_eq!(frame["JsonPatch"][0]["path"], json!(format!("/tasks/{missed}")));

    let mut client = connect(&address, &format!("{path}999999")).await;
    assert_eq!(next(&mut client).await["JsonPatch"][0]["path"], "/tasks");
    world.close().await;
}

#[tokio::test]
async fn unknown_things_have_empty_snapshots_or_no_socket() {
    let world = World::new().await;
    let (address, _server) = serve(&world).await;
    for (path, key) in [
        (format!("/api/tasks/stream/ws?project_id={UNKNOWN}"), "/tasks"),
        (format!("/api/execution-processes/stream/ws?task_attempt_id={UNKNOWN}"), "/execution_processes"),
        (format!("/api/drafts/stream/ws?project_id={UNKNOWN}"), "/drafts"),
    ] {
        let mut client = connect(&address, &path).await;
        assert_eq!(
            next(&mut client).await,
            json!({"JsonPatch": [{"op": "replace", "path": key, "value": {}}]})
        );
    }
    for path in ["raw-logs", "normalized-logs"] {
        let url = format!("ws://{address}/api/execution-processes/{UNKNOWN}/{path}/ws");
        match connect_async(url).await {
            Err(tungstenite::Error::Http(response)) => {
                assert_eq!(response.status(), 404);
                let body: Value = serde_json::from_slice(response.body().as_ref().unwrap()).unwrap();
                assert_eq!(body["success"], false);
            }
            other => panic!("{path}: expected a 404, got {other:?}"),
        }
    }
    world.close().await;
}

#[tokio::test]
async fn shutdown_closes_sockets_with_1001_and_ends_event_streams() {
    let world = World::new().await;
    let project = world.project().await;
    let (address, server) = serve(&world).await;
    let mut client = connect(&address, &format!("/api/tasks/stream/ws?project_id={project}")).await;
    next(&mut client).await;
    let mut events = open_events(&address, "").await;
    assert!(read_line(&mut events).await.contains("200"));
    world.shutdown.cancel();
    assert_eq!(close_code(client).await, Some(CloseCode::Away));
    while !read_line(&mut events).await.is_empty() {}
    timeout(PATIENCE, server).await.expect("the server must return").unwrap().unwrap();
    world.close().await;
}

async fn open_events(address: &str, headers: &str) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET /api/events HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    BufReader::new(stream)
}

/// One line of the response; empty at its end.
async fn read_line(stream: &mut BufReader<TcpStream>) -> String {
    let mut line = String::new();
    timeout(PATIENCE, stream.read_line(&mut line)).await.expect("a line must come").unwrap();
    line
}

/// The id and the patch of the next event.
async fn next_event(stream: &mut BufReader<TcpStream>) -> (i64, Value) {
    let (mut id, mut name) = (0, String::new());
    loop {
        let line = read_line(stream).await;
        assert!(!line.is_empty(), "the event stream ended");
        if let Some(text) = line.strip_prefix("id: ") {
            id = text.trim().parse().unwrap();
        } else if let Some(text) = line.strip_prefix("event: ") {
            name = text.trim().to_owned();
        } else if let Some(text) = line.strip_prefix("data: ") {
            assert_eq!(name, "json_patch");
            return (id, serde_json::from_str(text).unwrap());
        }
    }
}

#[tokio::test]
async fn events_are_replayed_from_the_start_and_from_a_position() {
    let world = World::new().await;
    let project = world.project().await;
    let first = world.task(&project, "first").await;
    let (address, _server) = serve(&world).await;
    let mut events = open_events(&address, "").await;
    let (id, patch) = next_event(&mut events).await;
    assert_eq!((&patch[0]["op"], &patch[0]["path"]), (&json!("add"), &json!(format!("/tasks/{first}"))));

    let second = world.task(&project, "second").await;
    let (later, patch) = next_event(&mut events).await;
    assert!(later > id);
    assert_eq!(patch[0]["path"], json!(format!("/tasks/{second}")));

    let mut resumed = open_events(&address, &format!("Last-Event-ID: {id}\r\n")).await;
    assert_eq!(next_event(&mut resumed).await, (later, patch));
    world.close().await;
}
