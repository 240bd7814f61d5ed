use std::sync::Mutex;
use std::time::Duration;

use forge_client::{Client, Kind, Method};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::server::{Server, cut, html, json, ready};

static HEARD: Mutex<Vec<String>> = Mutex::new(Vec::new());

#[tokio::test]
async fn data_come_out_of_a_success_and_its_warning_is_passed_on() {
    let server = Server::start(|asked| match asked.path.as_str() {
        "/plain" => json(200, &json!({"success": true, "data": 5, "error_data": null, "message": null})),
        "/warned" => json(200, &json!({"success": true, "data": 6, "message": "not started"})),
        // Older servers leave out what is null.
        _ => json(200, &json!({"success": true})),
    });
    let server = server.await;
    let client = Client::new(&format!("{}/", server.base), None)
        .with_remarks(|text| HEARD.lock().unwrap().push(text.to_owned()));
    assert_eq!(client.get::<u32>("/plain").await, Ok(5));
    assert_eq!(client.post::<u32>("/warned", &json!({})).await, Ok(6));
    assert_eq!(client.call::<Value>(Method::DELETE, "/bare", None).await, Ok(Value::Null));
    assert_eq!(*HEARD.lock().unwrap(), ["not started"]);
}

#[tokio::test]
async fn whatever_is_no_success_is_an_error_of_its_kind() {
    let conflict = json!({"type": "merge_conflicts", "message": "conflict in a.rs"});
    let unserved = json!({
        "success": false, "message": "GET /x is not served here", "error_code": "not_served", "hint": null,
    });
    let failed =
        |message: &str| json!({"success": false, "data": null, "error_data": null, "message": message});
    let cases = [
        (401, failed("who are you?"), Kind::Unauthorized, "who are you?"),
        (404, failed("no such task"), Kind::NotFound, "no such task"),
        (404, unserved, Kind::NotServed, "GET /x is not served here"),
        (409, failed("it runs"), Kind::Conflict, "it runs"),
        (422, failed("title: empty"), Kind::Refused, "title: empty"),
        (500, failed("the disk is full"), Kind::Failed, "the disk is full"),
        (200, failed("a rule"), Kind::Refused, "a rule"),
        (200, json!({"success": false, "error_data": conflict}), Kind::Refused, "conflict in a.rs"),
        (
            200,
            json!({"success": false, "error_data": "TOKEN_INVALID"}),
            Kind::Refused,
            "the server answered 200",
        ),
        (200, json!({"success": "yes", "data": 1}), Kind::Refused, "the server answered 200"),
        (503, json!([]), Kind::Failed, "the server answered 503"),
        (200, json!("OK"), Kind::Refused, "the server answered 200"),
    ];
    for (status, body, kind, message) in cases {
        let data = body["error_data"].clone();
        let server = Server::start(move |_| json(status, &body)).await;
        let error = Client::new(&server.base, None).get::<Value>("/x").await.unwrap_err();
        let seen = (error.kind, error.status, error.to_string(), error.data);
        assert_eq!(seen, (kind, Some(status), message.to_owned(), data));
        assert!(kind.is_refusal() && !kind.is_away(), "{kind:?}");
    }
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_is_no_refusal() {
    let server = Server::start(|asked| match asked.path.as_str() {
        "/proxy" => html(502),
        _ => json(200, &json!({"success": true, "data": "text"})),
    });
    let server = server.await;
    let client = Client::new(&server.base, None);
    let foreign = client.get::<Value>("/proxy").await.unwrap_err();
    assert_eq!((foreign.kind, foreign.status), (Kind::Foreign, Some(502)));
    assert!(foreign.to_string().starts_with("status 502, not JSON: "), "{foreign}");
    let unexpected = client.get::<u32>("/text").await.unwrap_err();
    assert_eq!(unexpected.kind, Kind::Unexpected);
    assert!(unexpected.to_string().starts_with("unexpected answer: "), "{unexpected}");
}

#[tokio::test]
async fn a_server_that_is_away_is_distinguished_from_one_that_is_silent_or_breaks_off() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = (format!("http://{}", silent.local_addr().unwrap()), silent);
    let away = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let server = Server::start(|_| cut(json(200, &json!({"success": true, "data": 1})))).await;
    let bases =
        [(format!("http://{away}"), Kind::Unreachable), (silent.0, Kind::TimedOut), (server.base, Kind::Cut)];
    for (base, kind) in bases {
        let client = Client::new(&base, None).within(Duration::from_millis(300), Duration::from_secs(1));
        let error = client.get::<Value>("/x").await.unwrap_err();
        assert_eq!((error.kind, error.kind.is_away()), (kind, true), "{error:?}");
        assert!(error.to_string().starts_with(&format!("no Forge answers at {base}; ")), "{error}");
    }
}

#[tokio::test]
async fn a_start_whose_answer_was_lost_is_sent_again_under_its_key_to_a_server_that_knows_keys() {
    for (version, times) in [(env!("CARGO_PKG_VERSION"), 2), ("0.0.1", 1)] {
        let posts = Mutex::new(0);
        let server = Server::start(move |asked| {
            if asked.path == "/health" {
                return json(200, &ready(version));
            }
            let mut posts = posts.lock().unwrap();
            *posts += 1;
            let answer = json(200, &json!({"success": true, "data": *posts}));
            if *posts == 1 { cut(answer) } else { answer }
        });
        let server = server.await;
        let client = Client::new(&server.base, None);
        let started = client.post::<u32>("/api/tasks", &json!({"title": "t"})).await;
        assert_eq!(started.map_err(|error| error.kind), if times == 2 { Ok(2) } else { Err(Kind::Cut) });
        let asked = server.asked("/api/tasks");
        let keys: Vec<_> = asked.iter().map(|asked| asked.header("idempotency-key").unwrap()).collect();
        assert!(keys.len() == times && keys.iter().all(|key| *key == keys[0]), "{keys:?}");
    }
    let server = Server::start(|_| cut(json(200, &json!({"success": true})))).await;
    let stopped = Client::new(&server.base, None).post::<Value>("/api/workers", &json!({})).await;
    assert_eq!(
        (stopped.unwrap_err().kind, server.paths("").len()),
        (Kind::Cut, 1),
        "anything else is sent once"
    );
}

#[tokio::test]
async fn the_token_goes_with_its_address() {
    let server = Server::start(|asked| match asked.path.as_str() {
        "/health" => json(200, &ready("0.0.1")),
        _ => json(200, &json!({"success": true})),
    });
    let server = server.await;
    let client = Client::new(&server.base, Some("s3cret".to_owned()));
    let _: Value = client.get("/mine").await.unwrap();
    let _: Value = client.at(&server.base, None).get("/other").await.unwrap();
    client.ready().await.unwrap();
    assert_eq!(server.asked("/mine")[0].header("authorization"), Some("Bearer s3cret"));
    assert_eq!(server.asked("/other")[0].header("authorization"), None);
    assert_eq!(server.asked("/health")[0].header("authorization"), None, "whoever answers is not known yet");
}
