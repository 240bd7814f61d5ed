use std::sync::Mutex;

use forge_client::{Client, Error, Feed, Kind, Message, Step};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::server::{Server, cut, events, frame, html, json, ready};

/// Everything that a feed brings, as words.
async fn follow(mut feed: Feed) -> Result<Vec<String>, Error> {
    let mut steps = Vec::new();
    loop {
        steps.push(match feed.next().await? {
            Step::Changes(changes) => {
                let paths: Vec<&str> = changes.iter().map(|change| change.path.as_str()).collect();
                format!("[{}]", paths.join(","))
            }
            Step::Lost => "lost".to_owned(),
            Step::Back => "back".to_owned(),
            Step::Finished => return Ok(steps),
        });
    }
}

fn change(seq: i64) -> Value {
    json!({"seq": seq, "JsonPatch": [{"op": "add", "path": seq.to_string(), "value": {}}]})
}

#[tokio::test]
async fn a_socket_that_is_cut_in_a_frame_continues_after_the_last_whole_one() {
    let server = Server::start(|asked| match asked.path.ends_with("after=0") {
        true => {
            let half = frame(&change(2))[..9].to_vec();
            asked.upgrade(&[frame(&change(1)), half])
        }
        false => asked.upgrade(&[frame(&change(2)), frame(&json!({"finished": true}))]),
    });
    let server = server.await;
    let feed = Feed::new(&Client::new(&server.base, Some("t".to_owned())), "/log".to_owned());
    assert_eq!(follow(feed).await.unwrap(), ["[1]", "lost", "back", "[2]"]);
    assert_eq!(server.paths(""), ["/log/ws?after=0", "/log/ws?after=1"]);
    assert_eq!(server.asked("/ws")[1].header("authorization"), Some("Bearer t"));
}

#[tokio::test]
async fn events_take_over_where_sockets_do_not_get_through_and_continue_when_they_are_cut() {
    static HEARD: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let server = Server::start(|asked| match asked.path.as_str() {
        "/health" => json(200, &ready("0.0.1")),
        path if path.contains("/ws") => html(502),
        path if path.ends_with("after=0") => {
            let (whole, half) = (change(1), change(2).to_string());
            events(&format!(": open\n\nid: 1\ndata: {whole}\n\nid: 2\ndata: {}", &half[..7]), 5)
        }
        _ => events(&format!(": open\n\nid: 2\ndata: {}\n\ndata: {{\"finished\":true}}\n\n", change(2)), 5),
    });
    let server = server.await;
    let client = Client::new(&server.base, None);
    let client = client.with_remarks(|text| HEARD.lock().unwrap().push(text.to_owned()));
    let feed = Feed::new(&client, "/log?of=a".to_owned());
    assert_eq!(follow(feed).await.unwrap(), ["[1]", "lost", "back", "[2]"]);
    assert_eq!(server.paths("/sse"), ["/log/sse?of=a&after=0", "/log/sse?of=a&after=1"]);
    assert_eq!(*HEARD.lock().unwrap(), ["WebSockets do not get through; using server-sent events"]);
    // A way that was given up is not tried again.
    follow(Feed::new(&client, "/log".to_owned())).await.unwrap();
    assert_eq!(server.paths("/ws").len(), 2);
}

#[tokio::test]
async fn pages_always_get_through_and_miss_nothing_when_an_answer_is_lost() {
    let tries = Mutex::new(0);
    let server = Server::start(move |asked| match asked.path.as_str() {
        "/health" => json(200, &ready("0.0.1")),
        path if path.contains("/ws") || path.contains("/sse") => html(403),
        path if path.contains("after=0") => json(
            200,
            &json!({"success": true, "data": {"frames": [change(1)], "finished": false, "more": true}}),
        ),
        _ => {
            let frames = [change(2), json!({"finished": true})];
            let page = json(
                200,
                &json!({"success": true, "data": {"frames": frames, "finished": true, "more": false}}),
            );
            let mut tries = tries.lock().unwrap();
            *tries += 1;
            if *tries == 1 { cut(page) } else { page }
        }
    });
    let server = server.await;
    let client = Client::new(&server.base, None);
    let steps = follow(Feed::new(&client, "/log".to_owned())).await.unwrap();
    assert_eq!(steps, ["[1]", "lost", "back", "[2]"]);
    let pages = ["/log?after=0&wait_ms=0", "/log?after=1&wait_ms=0", "/log?after=1&wait_ms=0"];
    assert_eq!(server.paths("wait_ms"), pages);
    let error = follow(Feed::without_pages(&client, "/diff".to_owned())).await.unwrap_err();
    assert_eq!(error.kind, Kind::NoStream);
}

#[tokio::test]
async fn a_feed_ends_when_the_server_refuses_it() {
    let server = Server::start(|_| json(404, &json!({"success": false, "message": "no such run"}))).await;
    let error = follow(Feed::new(&Client::new(&server.base, None), "/log".to_owned())).await.unwrap_err();
    assert_eq!((error.kind, error.to_string()), (Kind::NotFound, "no such run".to_owned()));
    assert_eq!(server.paths("").len(), 1);
}

#[tokio::test]
async fn events_are_whole_however_they_are_cut_and_continue_after_the_last_id() {
    let first = ": open\n\nid: 7\nevent: worker\ndata: {\"a\":\ndata: \"ä\"}\r\n\r\n: keep\n\ndata:x\n\nid: 8\ndata: ha";
    let seven = Message { id: Some(7), event: "worker".into(), data: "{\"a\":\n\"ä\"}".into() };
    let unnamed = Message { id: None, event: String::new(), data: "x".into() };
    let eight = Message { id: Some(8), event: String::new(), data: "half".into() };
    for size in [1, 2, 3, 5, 8, 13, 400] {
        let server = Server::start(move |asked| match asked.header("last-event-id") {
            None => events(first, size),
            Some(_) => events(": open\n\nid: 8\ndata: half\n\n", size),
        });
        let server = server.await;
        let mut stream = Client::new(&server.base, None).events("/api/events?after=3").await.unwrap();
        let mut seen = Vec::new();
        while let Some(message) = stream.next().await.unwrap() {
            seen.push(message);
        }
        stream.resume().await.unwrap();
        seen.extend(stream.next().await.unwrap());
        assert_eq!(seen, [seven.clone(), unnamed.clone(), eight.clone()], "in pieces of {size}");
        assert_eq!(server.asked("/api/events")[1].header("last-event-id"), Some("7"));
    }
}

#[tokio::test]
async fn a_stream_that_is_not_served_is_distinguished_from_a_proxy() {
    let server = Server::start(|asked| match asked.path.as_str() {
        "/proxy" => html(200),
        _ => json(404, &json!({"success": false, "message": "not here", "error_code": "not_served"})),
    });
    let server = server.await;
    let client = Client::new(&server.base, None);
    for (path, kind) in [("/x", Kind::NotServed), ("/proxy", Kind::Foreign)] {
        let (events, socket) = (client.events(path).await.err(), client.socket(path).await.err());
        assert_eq!((events.unwrap().kind, socket.unwrap().kind), (kind, kind), "{path}");
    }
}
