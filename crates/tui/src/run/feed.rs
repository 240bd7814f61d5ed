//! The event log of the server, for as long as the dashboard lives.
//!
//! Invariant: no event is lost or taken twice over a reconnection; the log is read from where it stood when the lists
//! were about to be read, not from the server's start.

use std::time::Duration;

use forge_client::{Client, Error, Events, Kind};
use forge_types::{Alert, Routing, TaskSummary, Worker};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::mpsc;

use crate::fault;
use crate::message::{Event, Message};

const PAUSE: Duration = Duration::from_millis(500);

/// A project that does not exist. It has no tasks, and the reply says how far the event log is.
const NOBODY: &str = "00000000-0000-0000-0000-000000000000";

pub async fn listen(api: Client, messages: mpsc::Sender<Message>) {
    let mut events = None;
    loop {
        let why = match stream(&api, &mut events, &messages).await {
            Ok(()) => "it ended the stream".to_owned(),
            Err(error) => fault::words(&error),
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
    let page: Value = api.get(&format!("/api/tasks/stream?project_id={NOBODY}")).await?;
    let seq = page["frames"].as_array().and_then(|frames| frames.last()?["seq"].as_i64());
    seq.ok_or_else(|| Error::new(Kind::Unexpected, "the server does not say how far its event log is"))
}

fn read(message: &forge_client::Message) -> Vec<Event> {
    let data = message.data.as_str();
    match message.event.as_str() {
        "worker" => of(data, |worker: Box<Worker>| Event::Worker(worker)),
        "worker_removed" => of(data, Event::WorkerGone),
        "alert" => of(data, |alert: Box<Alert>| Event::Alert(alert)),
        "routing" => of(data, |routing: Box<Routing>| Event::Routing(routing)),
        "approval" => vec![Event::Approval],
        "json_patch" => {
            let changes: Vec<Value> = serde_json::from_str(data).unwrap_or_default();
            changes.into_iter().filter_map(read_change).collect()
        }
        _ => Vec::new(),
    }
}

/// Skips what this version does not know.
fn of<T: DeserializeOwned>(data: &str, event: impl FnOnce(T) -> Event) -> Vec<Event> {
    match serde_json::from_str(data) {
        Ok(thing) => vec![event(thing)],
        Err(error) => {
            tracing::warn!(%error, "an event cannot be read");
            Vec::new()
        }
    }
}

fn read_change(mut change: Value) -> Option<Event> {
    let path = change["path"].as_str()?.to_owned();
    let (kind, id) = path.trim_start_matches('/').split_once('/')?;
    let gone = change["op"] == "remove";
    match (kind, gone) {
        ("tasks", true) => Some(Event::TaskGone(id.to_owned())),
        ("task_attempts", true) => Some(Event::AttemptGone(id.to_owned())),
        ("tasks", false) => {
            let task: TaskSummary = serde_json::from_value(change["value"].take()).ok()?;
            Some(Event::Task(Box::new(task)))
        }
        ("execution_processes", false) => serde_json::from_value(change["value"].take()).ok().map(Event::Run),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::RunNews;
    use serde_json::json;

    fn events(event: &str, data: &Value) -> Vec<Event> {
        read(&forge_client::Message { id: Some(1), event: event.to_owned(), data: data.to_string() })
    }

    #[test]
    fn patches_become_events_and_strange_ones_nothing() {
        let run =
            json!({"id": "r", "task_attempt_id": "a", "run_reason": "codingagent", "status": "running"});
        let patch = json!([{"op": "replace", "path": "/execution_processes/r", "value": run}]);
        let expected = RunNews {
            id: "r".into(),
            task_attempt_id: Some("a".into()),
            run_reason: "codingagent".into(),
            status: "running".into(),
        };
        assert_eq!(events("json_patch", &patch), [Event::Run(expected)]);
        let gone =
            json!([{"op": "remove", "path": "/tasks/t"}, {"op": "remove", "path": "/task_attempts/a"}]);
        assert_eq!(
            events("json_patch", &gone),
            [Event::TaskGone("t".into()), Event::AttemptGone("a".into())]
        );
        assert_eq!(events("worker_removed", &json!("w-1")), [Event::WorkerGone("w-1".into())]);
        assert_eq!(events("json_patch", &json!([{"op": "add", "path": "/drafts/x", "value": 1}])), []);
        assert_eq!(events("worker", &json!({"id": "w"})), []);
        assert_eq!(events("of-tomorrow", &json!({})), []);
    }
}
