//! The contract: recorded exchanges are replayed against the real server and its answers held against the recorded ones.
//!
//! `data/differences.json` lists every difference that is meant, with the reason, and every recording of a route that
//! is not served yet. The list is kept true from both sides: an unlisted difference fails, and so does a listed one
//! that no longer occurs or a listed route that has come to be served.

mod compare;
mod recording;
mod routes;
mod server;
mod story;
mod streams;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures_util::StreamExt;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::compare::Likeness;
use crate::recording::{Recording, folder, load, names};
use crate::server::Answer;
use crate::story::Story;

#[derive(Deserialize)]
struct Listed {
    differences: BTreeMap<String, Difference>,
    not_served: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Difference {
    what: BTreeSet<String>,
    reason: String,
}

const EVENTS_LIMIT: Duration = Duration::from_secs(2);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn recorded_exchanges_get_the_same_answers() {
    let text = std::fs::read_to_string(folder().join("differences.json")).expect("differences.json");
    let listed: Listed = serde_json::from_str(&text).expect("differences.json");
    let mut story = Story::begin().await;
    let unknown = story.server.ask(story.server.request("GET", "/api/does-not-exist")).await;
    let unknown = refusal(&unknown, "GET", "/api/does-not-exist");
    let mut found = BTreeMap::new();
    let mut served = Vec::new();
    let mut listening = Vec::new();
    for name in names() {
        story.prepare(&name).await;
        let recording = load(&name, |text| story.map(text));
        let answer = replay(&story, &recording).await;
        story.learn(&recording.response.body, &answer.body);
        if listed.not_served.contains_key(&name) {
            if refusal(&answer, &recording.request.method, &recording.request.path) != unknown {
                served.push(format!("{name} is served now: {} {}", answer.status, answer.body));
            }
        } else {
            found.insert(name.clone(), differences(&recording, &answer));
        }
        for (_, stream, path, until) in streams::PLAN.iter().filter(|(after, ..)| *after == name) {
            listening.push((*stream, streams::listen(&story, path, *until)));
        }
    }
    for (stream, heard) in listening {
        let heard = streams::compare(stream, &heard.await.expect("the listener"));
        if !listed.not_served.contains_key(stream) {
            found.insert(stream.to_owned(), heard);
        } else if heard.is_empty() {
            served.push(format!("{stream} is served now"));
        }
    }
    found.insert("sse_events".to_owned(), streams::compare_events(&read_events(&story).await));
    story.end_agents().await;
    check(&listed, found, served);
}

async fn replay(story: &Story, recording: &Recording) -> Answer {
    let mut request = story.server.request(&recording.request.method, &recording.request.path);
    for (key, value) in recording.request.headers.iter().flatten() {
        request = request.header(key, value);
    }
    let request = match &recording.request.body {
        Value::Null => request,
        Value::String(text) if text.starts_with("<3,000,000 bytes") => {
            request.json(&json!({"title": "x".repeat(3_000_000)}))
        }
        // Bodies that are no JSON were recorded byte by byte.
        Value::String(text) => request.body(text.chars().map(|letter| letter as u8).collect::<Vec<_>>()),
        body => request.json(body),
    };
    story.server.ask(request).await
}

/// The words any unknown path is answered with, without the path itself.
fn refusal(answer: &Answer, method: &str, path: &str) -> (u16, String) {
    let path = path.split('?').next().unwrap_or_default();
    let message = answer.body["message"].as_str().unwrap_or_default();
    (answer.status, message.replace(&format!("{method} {path}"), ""))
}

fn differences(recording: &Recording, answer: &Answer) -> BTreeSet<String> {
    let recorded = &recording.response;
    let mut found = BTreeSet::new();
    if recorded.status != answer.status {
        found.insert(format!("status: {} → {}", recorded.status, answer.status));
    }
    if answer.status >= 400 {
        // The words of an error are for people; that it carries the envelope is the contract.
        let faulty = json!({"success": false, "data": null, "error_data": null, "message": "why"});
        found.extend(compare::differences(&faulty, &answer.body, Likeness::Same));
        if !recorded.body.is_object() {
            found.insert("error without envelope → envelope".to_owned());
        }
        return found;
    }
    found.extend(compare::differences(&recorded.body, &answer.body, Likeness::Same));
    // A rule refused with status 200: clients show, and some look for, exactly these words.
    if recorded.body["success"] == false && recorded.body["message"] != answer.body["message"] {
        found.insert(format!("message: {} → {}", recorded.body["message"], answer.body["message"]));
    }
    found
}

async fn read_events(story: &Story) -> String {
    let response = story.server.request("GET", "/api/events").send().await.expect("an event stream");
    let mut stream = response.bytes_stream();
    let mut bytes = Vec::new();
    while let Ok(Some(Ok(chunk))) = tokio::time::timeout(EVENTS_LIMIT, stream.next()).await {
        bytes.extend_from_slice(&chunk);
    }
    String::from_utf8(bytes).expect("events are text")
}

fn check(listed: &Listed, found: BTreeMap<String, BTreeSet<String>>, mut faults: Vec<String>) {
    let none = BTreeSet::new();
    for (name, found) in &found {
        let meant = listed.differences.get(name).map_or(&none, |difference| &difference.what);
        faults.extend(found.difference(meant).map(|line| format!("{name}: not listed: {line}")));
        faults
            .extend(meant.difference(found).map(|line| format!("{name}: listed, but no longer so: {line}")));
    }
    for (name, difference) in &listed.differences {
        assert!(!difference.reason.is_empty(), "{name}: a difference needs a reason");
        if !found.contains_key(name) {
            faults.push(format!("{name}: listed, but there is no such recording or its route is not served"));
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}
