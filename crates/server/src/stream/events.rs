//! Everything that happens, as server-sent events and over one WebSocket.
//!
//! Invariant: the number of an event is its number in the log; a client that names one gets all later ones. A client
//! that names none gets everything since the server started as server-sent events, and everything from now on over the
//! WebSocket, whose first frame says where it begins. All projects, agent chats included.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::Event as Message;
use forge_core::{Dropped, EventFeed};
use forge_types::wire::{Hello, ShownApproval};
use forge_types::{Change, Event, EventRecord};
use futures_util::{Stream, StreamExt, stream};
use serde::Serialize;

use crate::App;
use crate::envelope::{Answer, Fault};
use crate::extract::{Params, wrong};
use crate::stream::drafts::patch_draft;
use crate::stream::live::follow;
use crate::stream::patch::{open, remove};
use crate::stream::runs::{patch_run, path};
use crate::stream::socket::Upgrade;
use crate::stream::tasks::put_task;
use crate::stream::{board, sse};

pub(crate) async fn watch(State(app): State<App>, params: Params, headers: HeaderMap) -> Answer {
    let position = sse::position(&headers, &params)?;
    let feed = app.forge.feed(position.unwrap_or_else(|| app.forge.start_seq()));
    Ok(sse::send(&app, messages(feed)))
}

/// Browsers allow few connections to one host, and sockets do not count among them.
pub(crate) async fn watch_socket(
    State(app): State<App>,
    params: Params,
    upgrade: Result<Upgrade, Fault>,
) -> Answer {
    let after = params.after()?;
    let upgrade = upgrade?;
    let seq = app.forge.resume_after(after).await?;
    let hello = frame(seq, &WireEvent::new("hello", &Hello { version: app.guard.version.clone() }));
    let write = |record: &EventRecord| to_wire(&record.event).map(|event| frame(record.seq, &event));
    match params.get("view") {
        None => Ok(upgrade.send(&app, follow(&app.forge, seq, Some(hello), write))),
        Some("board") => Ok(upgrade.send(&app, board::follow(&app, seq, hello))),
        Some(given) => Err(wrong("view", &format!("'{given}' is not allowed; allowed: board"))),
    }
}

pub(crate) fn frame(seq: i64, event: &WireEvent) -> String {
    let mut text = open(Some(seq), event.data.len());
    text.push_str(r#""event":""#);
    text.push_str(event.name);
    text.push_str(r#"","data":"#);
    text.push_str(&event.data);
    text.push('}');
    text
}

/// Ends when the log cannot be read; the client then comes back with its last id.
fn messages(feed: EventFeed) -> impl Stream<Item = Message> + Send + 'static {
    let batches = stream::unfold(feed, |mut feed| async move {
        match feed.next().await {
            Ok(records) => Some((records, feed)),
            Err(error) => {
                tracing::warn!(%error, "the event stream failed");
                None
            }
        }
    });
    batches.flat_map(|records| {
        let messages: Vec<Message> = records.iter().filter_map(|record| write(record)).collect();
        stream::iter(messages)
    })
}

/// An event under its name, its data as JSON.
pub(crate) struct WireEvent {
    name: &'static str,
    data: String,
}

impl WireEvent {
    /// Values of this crate always serialise.
    pub(crate) fn new<T: Serialize + ?Sized>(name: &'static str, value: &T) -> Self {
        Self { name, data: serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned()) }
    }

    pub(crate) fn patch(operation: &str) -> Self {
        Self { name: "json_patch", data: format!("[{operation}]") }
    }
}

/// Shipped clients expect only the names that they know on this stream; newer ones go over the socket alone.
fn write(record: &EventRecord) -> Option<Message> {
    if matches!(
        record.event,
        Event::Project { .. } | Event::ProjectRemoved { .. } | Event::AttemptCreated { .. }
    ) {
        return None;
    }
    let WireEvent { name, data } = to_wire(&record.event)?;
    Some(Message::default().id(record.seq.to_string()).event(name).data(data))
}

pub(crate) fn to_wire(event: &Event) -> Option<WireEvent> {
    Some(match event {
        Event::Project { project, .. } => WireEvent::new("project", project),
        Event::ProjectRemoved { id } => WireEvent::new("project_removed", id),
        Event::AttemptCreated { attempt, .. } => WireEvent::new("attempt", attempt.as_ref()?),
        Event::Approval { approval, .. } => {
            WireEvent::new("approval", &ShownApproval::from(approval.clone()))
        }
        Event::Worker { worker, .. } => WireEvent::new("worker", &worker.shown()),
        Event::WorkerRemoved { id } => WireEvent::new("worker_removed", id),
        Event::Alert { alert, .. } => WireEvent::new("alert", alert),
        Event::Routing { routing, .. } => WireEvent::new("routing", routing),
        _ => WireEvent::patch(&patch(event)?),
    })
}

/// A patch for what is part of the documents that clients keep; the rest has its own names on this stream.
fn patch(event: &Event) -> Option<String> {
    Some(match event {
        Event::Task { change, task, .. } => {
            let op = match change {
                Change::Created => "add",
                Change::Updated => "replace",
            };
            put_task(op, task, false)
        }
        Event::TaskRemoved { id, .. } => remove(&format!("/tasks/{id}")),
        Event::AttemptRemoved { id, .. } => remove(&format!("/task_attempts/{id}")),
        Event::Run { change, run } => patch_run(*change, run, Dropped::Shown),
        Event::RunRemoved { id, .. } => remove(&path(*id)),
        Event::Draft { attempt_id, kind, draft, .. } => patch_draft(*attempt_id, *kind, draft.as_ref()),
        Event::Project { .. }
        | Event::ProjectRemoved { .. }
        | Event::AttemptCreated { .. }
        | Event::Approval { .. }
        | Event::Worker { .. }
        | Event::WorkerRemoved { .. }
        | Event::Alert { .. }
        | Event::Routing { .. } => return None,
    })
}
