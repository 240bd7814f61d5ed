//! The log and the changes of the selected attempt.
//!
//! Invariant: one attempt at a time; selecting another ends the streams of the first. Moving past a row opens none.

use std::time::Duration;

use forge_client::{Client, Error, Kind};
use forge_types::{Diff, NormalizedEntry};
use serde_json::Value;
use tokio::sync::{mpsc, watch};

use crate::fault;
use crate::message::{LogNews, Message, RunNews};
use crate::model::Changed;

/// A selection must last this long before its streams open.
const GLANCE: Duration = Duration::from_millis(100);
/// Number of latest runs whose logs are read; `forge view` shows all of them.
const RECENT: usize = 8;
const PAUSE: Duration = Duration::from_secs(1);

pub async fn follow(
    api: Client,
    mut wanted: watch::Receiver<Option<String>>,
    messages: mpsc::Sender<Message>,
) {
    loop {
        let attempt = wanted.borrow_and_update().clone();
        let shown = async {
            if let Some(attempt) = attempt {
                tokio::time::sleep(GLANCE).await;
                tokio::join!(
                    follow_log(&api, &attempt, &messages),
                    follow_changes(&api, &attempt, &messages)
                );
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
async fn follow_log(api: &Client, attempt: &str, messages: &mpsc::Sender<Message>) {
    let attempt = attempt.to_owned();
    loop {
        match log(api, &attempt, messages).await {
            Ok(()) => return say(messages, LogNews::Ended { attempt }).await,
            Err(error) if error.kind.is_away() => tokio::time::sleep(PAUSE).await,
            Err(error) => {
                return say(messages, LogNews::Failed { attempt, why: fault::words(&error) }).await;
            }
        }
    }
}

async fn log(api: &Client, attempt: &str, messages: &mpsc::Sender<Message>) -> Result<(), Error> {
    let mut runs: Vec<RunNews> =
        api.get(&format!("/api/execution-processes?task_attempt_id={attempt}")).await?;
    runs.retain(RunNews::is_agent);
    let recent = runs.split_off(runs.len().saturating_sub(RECENT));
    say(messages, LogNews::Begun { attempt: attempt.to_owned(), run: recent.last().cloned() }).await;
    for (turn, run) in recent.iter().enumerate() {
        read(api, attempt, turn, &run.id, messages).await?;
    }
    Ok(())
}

/// One run, to its end.
async fn read(
    api: &Client,
    attempt: &str,
    turn: usize,
    run: &str,
    messages: &mpsc::Sender<Message>,
) -> Result<(), Error> {
    let mut stream = api.events(&format!("/api/execution-processes/{run}/normalized-logs/sse")).await?;
    let mut finished = false;
    while !finished {
        let first = stream.next().await?;
        let mut message = Some(first.ok_or_else(|| Error::new(Kind::Cut, "the log was cut off"))?);
        let mut entries = Vec::new();
        // Entries that arrive together are sent together.
        while let Some(event) = message {
            let mut frame: Value = serde_json::from_str(&event.data).unwrap_or_default();
            finished |= frame["finished"] == true;
            entries.extend(patches(&mut frame).filter_map(|(path, value)| {
                let index = path.parse().ok()?;
                let entry = value.and_then(|value| serde_json::from_value::<NormalizedEntry>(value).ok());
                Some(((turn, index), entry))
            }));
            message = stream.ready();
        }
        say(messages, LogNews::Entries { attempt: attempt.to_owned(), entries }).await;
    }
    Ok(())
}

/// Attempts without a worktree have no changes.
async fn follow_changes(api: &Client, attempt: &str, messages: &mpsc::Sender<Message>) {
    let path = format!("/api/task-attempts/{attempt}/diff/sse?stats_only=true");
    let Ok(mut stream) = api.events(&path).await else { return };
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

/// Paths below `/entries/`, with the new content or none.
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
    fn a_frame_lists_what_is_new_and_what_is_gone() {
        let mut frame = json!({"seq": 3, "JsonPatch": [
            {"op": "add", "path": "/entries/0", "value": {"type": "NORMALIZED_ENTRY", "content": {"a": 1}}},
            {"op": "remove", "path": "/entries/src~1main.rs"},
            {"op": "add", "path": "/elsewhere/1", "value": {}},
        ]});
        let found: Vec<_> = patches(&mut frame).collect();
        assert_eq!(found, [("0".to_owned(), Some(json!({"a": 1}))), ("src~1main.rs".to_owned(), None)]);
        assert_eq!(patches(&mut json!({"finished": true})).count(), 0);
    }
}
