//! Every route of the contract is served, with the kind of answer the contract says.
//!
//! `data/endpoints.tsv` is the contract's own list. `PENDING` names what is not served yet, and is kept true from both
//! sides: a missing route that is not in it fails, and so does one in it that has come to be served.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::recording::folder;
use crate::server::Server;

/// Routes that are not served yet.
const PENDING: &[&str] = &[];

/// Routes that would reach other machines when they are asked; that they are listed has to do.
const OUTSIDE: [&str; 6] = [
    "POST /api/auth/github/device/start",
    "POST /api/auth/github/device/poll",
    "GET /api/auth/github/check",
    "GET /api/forge/omni/instances",
    "POST /api/forge/omni/validate",
    "GET /api/forge/releases",
];

/// Successes of these come without the envelope.
const RAW: [&str; 8] = [
    "/health",
    "/api/openapi.json",
    "/api/routes",
    "/site.webmanifest",
    "/api/forge/auth-required",
    "/api/forge/omni/status",
    "/api/forge/omni/notifications",
    "/api/forge/projects/{}/pull",
];

const UNKNOWN: &str = "00000000-0000-4000-8000-000000000000";

struct Row {
    method: String,
    path: String,
    kind: String,
}

fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(folder().join("endpoints.tsv")).expect("endpoints.tsv");
    let rows = text.lines().skip(1).map(|line| {
        let mut cells = line.split('\t').map(str::to_owned);
        let mut cell = || cells.next().unwrap_or_else(|| panic!("{line}: too few cells"));
        Row { method: cell(), path: cell(), kind: cell() }
    });
    rows.collect()
}

/// The path with the names of its parameters taken out, since only their places are the contract.
fn places(path: &str) -> String {
    path.split('/').map(|step| if step.starts_with('{') { "{}" } else { step }).collect::<Vec<_>>().join("/")
}

fn is_envelope(body: &Value) -> bool {
    let keys = ["success", "data", "error_data", "message"];
    body["success"].is_boolean() && keys.iter().all(|key| body.get(key).is_some())
}

async fn listed(server: &Server) -> BTreeSet<String> {
    let routes = server.ask(server.request("GET", "/api/routes")).await.body;
    let groups = routes["routes"].as_object().expect("groups of routes").values();
    let lines = groups.flat_map(|group| group.as_array().expect("a list"));
    let lines = lines.filter_map(|line| line.as_str()?.split_once(' '));
    lines.map(|(method, path)| format!("{method} {}", places(path))).collect()
}

/// What is wrong with the answer of a route.
async fn fault(server: &Server, row: &Row) -> Option<String> {
    let path: Vec<&str> =
        row.path.split('/').map(|step| if step.starts_with('{') { UNKNOWN } else { step }).collect();
    // Whatever a route may require; the rest it ignores.
    let query = format!(
        "project_id={UNKNOWN}&task_attempt_id={UNKNOWN}&type=follow_up&q=a&ref=/x&sha=HEAD&executor=CLAUDE_CODE&file_path=x"
    );
    let mut request = server.request(&row.method, &format!("{}?{query}", path.join("/")));
    if row.kind == "ws" {
        for (name, value) in [
            ("connection", "upgrade"),
            ("upgrade", "websocket"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ] {
            request = request.header(name, value);
        }
    } else if row.method != "GET" {
        request = request.json(&json!({}));
    }
    let response = request.send().await.expect("an answer");
    let status = response.status().as_u16();
    let kind =
        response.headers().get("content-type").map(|kind| kind.to_str().unwrap_or_default().to_owned());
    let kind = kind.unwrap_or_default();
    // A stream has no end to wait for.
    let right = match (row.kind.as_str(), status) {
        ("ws", 101) => true,
        ("sse", _) => kind.starts_with("text/event-stream"),
        ("http", 200) if row.path == "/docs" || row.path == "/{*path}" => kind.starts_with("text/html"),
        _ => {
            let text = response.text().await.unwrap_or_default();
            let body: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
            let unserved = status == 405
                || body["message"].as_str().is_some_and(|words| words.contains("is not served"));
            match RAW.contains(&places(&row.path).as_str()) && status < 400 {
                true => body.is_object(),
                false => is_envelope(&body) && !unserved && status < 500,
            }
        }
    };
    (!right).then(|| format!("{} {}: {status} {kind}", row.method, row.path))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_route_of_the_contract_is_served_with_its_kind_of_answer() {
    let server = Server::start().await;
    let listed = listed(&server).await;
    let mut faults = Vec::new();
    for row in rows() {
        let name = format!("{} {}", row.method, row.path);
        // The page answers every path that nothing else does.
        let is_served =
            row.path == "/{*path}" || listed.contains(&format!("{} {}", row.method, places(&row.path)));
        match (is_served, PENDING.contains(&name.as_str())) {
            (true, true) => faults.push(format!("{name} is served now: take it out of PENDING")),
            (false, true) => {}
            (false, false) => faults.push(format!("{name} is not served")),
            (true, false) if OUTSIDE.contains(&name.as_str()) => {}
            (true, false) => faults.extend(fault(&server, &row).await),
        }
    }
    let known: BTreeSet<String> = rows().iter().map(|row| format!("{} {}", row.method, row.path)).collect();
    let strays = PENDING.iter().chain(&OUTSIDE).filter(|name| !known.contains(**name));
    faults.extend(strays.map(|name| format!("{name} is no route of the contract")));
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}
