//! The log and the changes of the attempt that is looked at.
//!
//! Invariant: one attempt at a time; whoever turns to another one stops hearing of the first. Passing over a row does
//! not open its streams.

use std::time::Duration;

use forge_types::{Diff, NormalizedEntry};
use serde_json::Value;
use tokio::sync::{mpsc, watch};

use crate::api::{Api, Fault};
use crate::message::{LogNews, Message, RunNews};
use crate::model::Changed;

/// A selection that stays this long is looked at.
const GLANCE: Duration = Duration::from_millis(100);
const PAUSE: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub struct Wanted {
    attempt: Option<String>,
}

impl Wanted {
    pub fn turn_to(&mut self, attempt: Option<String>) {
        self.attempt = attempt;
    }
}

pub async fn follow(api: Api, mut wanted: watch::Receiver<Wanted>, messages: mpsc::Sender<Message>) {
    loop {
        let attempt = wanted.borrow_and_update().attempt.clone();
        let shown = async {
            match attempt {
                Some(attempt) => {
                    tokio::time::sleep(GLANCE).await;
                    tokio::join!(
                        tell_log(&api, &attempt, &messages),
                        tell_changes(&api, &attempt, &messages)
                    );
                }
                None => {}
            }
            // Nothing more comes; what is wanted next decides.
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = shown => {}
            changed = wanted.changed() => if changed.is_err() {
                return;
            },
        }
    }
}

async fn say(messages: &mpsc::Sender<Message>, news: LogNews) {
    // The loop that would hear it has ended.
    let _ = messages.send(Message::Log(news)).await;
}

/// From the beginning, and again when the server went away in between.
async fn tell_log(api: &Api, attempt: &str, messages: &mpsc::Sender<Message>) {
    let attempt = attempt.to_owned();
    loop {
        match log(api, &attempt, messages).await {
            Ok(()) => return say(messages, LogNews::Ended { attempt }).await,
            Err(Fault::Away(_)) => tokio::time::sleep(PAUSE).await,
            Err(fault) => {
                return say(messages, LogNews::Failed { attempt, why: fault.to_string() }).await;
            }
        }
    }
}

async fn log(api: &Api, attempt: &str, messages: &mpsc::Sender<Message>) -> Result<(), Fault> {
    let runs: Vec<RunNews> = api.get(&format!("/api/execution-processes?task_attempt_id={attempt}")).await?;
    let run = runs.into_iter().rfind(RunNews::is_agent);
    let path = run.as_ref().map(|run| format!("/api/execution-processes/{}/normalized-logs/sse", run.id));
    say(messages, LogNews::Begun { attempt: attempt.to_owned(), run }).await;
    let Some(path) = path else { return Ok(()) };
    let mut stream = api.listen(&path).await?;
    loop {
        let first = stream.next().await?;
        let ended = || Fault::Away("the log was cut off".to_owned());
        let mut frame = Some(first.ok_or_else(ended)?);
        let mut entries = Vec::new();
        // What came together is told together.
        while let Some(message) = frame {
            let mut frame_value: Value = serde_json::from_str(&message.data).unwrap_or_default();
            if frame_value["finished"] == true {
                say(messages, LogNews::Entries { attempt: attempt.to_owned(), entries }).await;
                return Ok(());
            }
            entries.extend(patches(&mut frame_value).filter_map(|(path, value)| {
                let index = path.parse().ok()?;
                let entry = value.and_then(|value| serde_json::from_value::<NormalizedEntry>(value).ok());
                Some((index, entry))
            }));
            frame = stream.ready();
        }
        say(messages, LogNews::Entries { attempt: attempt.to_owned(), entries }).await;
    }
}

/// Attempts without a worktree have no changes to tell.
async fn tell_changes(api: &Api, attempt: &str, messages: &mpsc::Sender<Message>) {
    let path = format!("/api/task-attempts/{attempt}/diff/sse?stats_only=true");
    let Ok(mut stream) = api.listen(&path).await else { return };
    while let Ok(Some(message)) = stream.next().await {
        let mut frame: Value = serde_json::from_str(&message.data).unwrap_or_default();
        let files: Vec<_> = patches(&mut frame)
            .map(|(path, value)| {
                let diff = value.and_then(|value| serde_json::from_value::<Diff>(value).ok());
                let figures = diff.map(|diff| Changed {
                    added: diff.additions.unwrap_or(0),
                    removed: diff.deletions.unwrap_or(0),
                });
                (path.replace("~1", "/").replace("~0", "~"), figures)
            })
            .collect();
        if !files.is_empty() {
            say(messages, LogNews::Changes { attempt: attempt.to_owned(), files }).await;
        }
    }
}

/// What is below `/entries/`, with its new content or none.
fn patches(frame: &mut Value) -> impl Iterator<Item = (String, Option<Value>)> {
    let changes = match frame["JsonPatch"].take() {
        Value::Array(changes) => changes,
        _ => Vec::new(),
    };
    changes.into_iter().filter_map(|mut change| {
        let key = change["path"].as_str()?.strip_prefix("/entries/")?.to_owned();
        let content = match change["value"]["content"].take() {
            Value::Null => None,
            content => Some(content),
        };
        Some((key, content))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_frame_tells_what_is_new_and_what_is_gone() {
        let mut frame = json!({"seq": 3, "JsonPatch": [
            {"op": "add", "path": "/entries/0", "value": {"type": "NORMALIZED_ENTRY", "content": {"a": 1}}},
            {"op": "remove", "path": "/entries/src~1main.rs"},
            {"op": "add", "path": "/elsewhere/1", "value": {}},
        ]});
        let told: Vec<_> = patches(&mut frame).collect();
        assert_eq!(told, [("0".to_owned(), Some(json!({"a": 1}))), ("src~1main.rs".to_owned(), None)]);
        assert_eq!(patches(&mut json!({"finished": true})).count(), 0);
    }
}
