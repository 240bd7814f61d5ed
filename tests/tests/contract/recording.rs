//! The recorded exchanges: requests with the answers an older server gave, and frames of its streams.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
pub struct Recording {
    pub request: Request,
    pub response: Response,
}

#[derive(Deserialize)]
pub struct Request {
    pub method: String,
    pub path: String,
    #[serde(default)]
    pub headers: Option<std::collections::BTreeMap<String, String>>,
    #[serde(default)]
    pub body: Value,
}

#[derive(Deserialize)]
pub struct Response {
    pub status: u16,
    #[serde(default)]
    pub body: Value,
}

pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data")
}

/// Names of the recorded requests, in the order in which they were made.
pub fn names() -> Vec<String> {
    let entries = std::fs::read_dir(folder().join("recorded")).expect("the recordings");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter_map(|name| name.strip_suffix(".json").map(str::to_owned))
        .collect();
    names.sort();
    names
}

pub fn read_text(name: &str) -> String {
    let path = folder().join("recorded").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A recorded request; `map` puts the ids and paths of this run in place of the recorded ones.
pub fn load(name: &str, map: impl Fn(&str) -> String) -> Recording {
    serde_json::from_str(&map(&read_text(&format!("{name}.json"))))
        .unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The status of the recorded upgrade and the frames that followed, parsed where they are JSON.
pub fn load_frames(name: &str) -> (u16, Vec<Value>) {
    let mut status = 101;
    let mut frames = Vec::new();
    for line in read_text(&format!("{name}.jsonl")).lines() {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{name}: {error}"));
        if let Some(recorded) = line["status"].as_u64() {
            status = u16::try_from(recorded).expect("a status");
        } else if let Some(frame) = line["frame"].as_str() {
            frames.push(serde_json::from_str(frame).unwrap_or_else(|_| Value::from(frame)));
        }
    }
    (status, frames)
}
