//! The event log of the server, for as long as the dashboard lives.
//!
//! Invariant: no event is lost or taken twice over a reconnection; the log is read from where it stood when the lists
//! were about to be read, not from the server's start.

use std::time::Duration;

use forge_client::{Client, Error, Events, Kind};
use forge_types::wire::{FramePage, PatchOp, PatchWord, StreamFrame, WireEvent};
use tokio::sync::mpsc;

use crate::message::{Event, Message, Topic};

const PAUSE: Duration = Duration::from_millis(500);

/// A project that does not exist. It has no tasks, and the reply says how far the event log is.
const NOBODY: &str = "00000000-0000-0000-0000-000000000000";

pub async fn listen(api: Client, messages: mpsc::Sender<Message>) {
    let mut events = None;
    loop {
        let why = match stream(&api, &mut events, &messages).await {
            Ok(()) => "it ended the stream".to_owned(),
            Err(error) => error.message,
        };
        tracing::info!(%why, "the server went away");
        if messages.send(Message::Away(why)).await.is_err() {
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn stream(
    api: &Client,
    events: &mut Option<Events>,
    messages: &mpsc::Sender<Message>,
) -> Result<(), Error> {
    let events = match events {
        Some(events) => {
            events.resume().await?;
            events
        }
        None => {
            let after = position(api).await?;
            events.insert(api.events(&format!("/api/events?after={after}")).await?)
        }
    };
    let _ = messages.send(Message::Up).await;
    while let Some(message) = events.next().await? {
        for event in read(&message) {
            let _ = messages.send(Message::Event(event)).await;
        }
    }
    Ok(())
}

async fn position(api: &Client) -> Result<i64, Error> {
    let page: FramePage = api.get(&format!("/api/tasks/stream?project_id={NOBODY}")).await?;
    let seq = page.frames.last().and_then(StreamFrame::seq);
    seq.ok_or_else(|| Error::new(Kind::Unexpected, "the server does not say how far its event log is"))
}

/// Skips what this version does not know.
fn read(message: &forge_client::Message) -> Vec<Event> {
    let event = match message.read() {
        Ok(WireEvent::Patch(changes)) => return changes.iter().filter_map(read_change).collect(),
        Ok(WireEvent::Approval(_)) => Event::Changed(Topic::Questions),
        Ok(WireEvent::Worker(worker)) => Event::Worker(Box::new(worker)),
        Ok(WireEvent::WorkerRemoved(id)) => Event::WorkerGone(id),
        Ok(WireEvent::Alert(alert)) => Event::Alert(Box::new(alert)),
        Ok(WireEvent::Routing(routing)) => Event::Routing(Box::new(routing)),
        Ok(WireEvent::Project(_) | WireEvent::ProjectRemoved(_)) => Event::Changed(Topic::Projects),
        // The others are for boards.
        Ok(_) => return Vec::new(),
        Err(error) => {
            tracing::warn!(%error, event = message.event, "an event cannot be read");
            return Vec::new();
        }
    };
    vec![event]
}

fn read_change(change: &PatchOp) -> Option<Event> {
    let (kind, id) = change.path.trim_start_matches('/').split_once('/')?;
    match (kind, change.op) {
        ("tasks", PatchWord::Remove) => id.parse().ok().map(Event::TaskGone),
        ("task_attempts", PatchWord::Remove) => id.parse().ok().map(Event::AttemptGone),
        ("tasks", _) => change.read().map(Event::Task),
        // A run of a form that this version does not know has changed its attempt all the same.
        ("execution_processes", PatchWord::Add | PatchWord::Replace) => {
            Some(change.read().map_or(Event::Changed(Topic::Attempts), Event::Run))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, RUNNING};
    use serde_json::{Value, json};

    fn events(event: &str, data: &Value) -> Vec<Event> {
        read(&forge_client::Message { id: Some(1), event: event.to_owned(), data: data.to_string() })
    }

    #[test]
    fn patches_become_events_and_strange_ones_nothing() {
        let run = fixture::run(RUNNING, "running");
        let path = format!("/execution_processes/{}", run.id);
        let patch = |value: Value| json!([{"op": "replace", "path": path, "value": value}]);
        assert_eq!(events("json_patch", &patch(json!(run))), [Event::Run(Box::new(run))]);
        assert_eq!(events("json_patch", &patch(json!({}))), [Event::Changed(Topic::Attempts)]);
        let gone = json!([
            {"op": "remove", "path": format!("/tasks/{RUNNING}")},
            {"op": "remove", "path": format!("/task_attempts/{RUNNING}")},
        ]);
        let (task, attempt) = (RUNNING.parse().unwrap(), RUNNING.parse().unwrap());
        assert_eq!(events("json_patch", &gone), [Event::TaskGone(task), Event::AttemptGone(attempt)]);
        assert_eq!(events("json_patch", &json!([{"op": "add", "path": "/drafts/x", "value": 1}])), []);
    }

    #[test]
    fn events_are_read_by_their_names_and_those_of_a_newer_server_are_skipped() {
        assert_eq!(events("worker_removed", &json!("w-1")), [Event::WorkerGone("w-1".parse().unwrap())]);
        let worker = fixture::worker("w-1", "running", "healthy", &[], 1);
        assert!(matches!(events("worker", &worker)[..], [Event::Worker(_)]));
        assert_eq!(events("worker", &json!({"id": "w"})), []);
        assert_eq!(events("of-tomorrow", &json!({})), []);
    }
}
