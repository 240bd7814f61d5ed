//! Everything that happens, as server-sent events.
//!
//! Invariant: the id of an event is its number in the log; a client that names one gets all later ones, a client that
//! names none gets everything since the server started. All projects, agent chats included.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::Event as Message;
use forge_core::{Dropped, EventFeed};
use forge_types::{Change, Event, EventRecord};
use futures_util::{Stream, StreamExt, stream};

use crate::App;
use crate::envelope::Answer;
use crate::extract::Params;
use crate::stream::drafts::patch_draft;
use crate::stream::patch::{put, remove};
use crate::stream::runs::{patch_run, path};
use crate::stream::sse;
use crate::wire;

pub(crate) async fn watch(State(app): State<App>, params: Params, headers: HeaderMap) -> Answer {
    let position = sse::position(&headers, &params)?;
    let feed = app.forge.feed(position.unwrap_or_else(|| app.forge.start_seq()));
    Ok(sse::send(&app, messages(feed)))
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

fn write(record: &EventRecord) -> Option<Message> {
    let message = Message::default().id(record.seq.to_string());
    match &record.event {
        Event::Approval { approval, .. } => {
            return message.event("approval").json_data(wire::approval(approval)).ok();
        }
        Event::Worker { worker, .. } => return message.event("worker").json_data(worker.shown()).ok(),
        Event::WorkerRemoved { id } => return message.event("worker_removed").json_data(id).ok(),
        Event::Alert { alert, .. } => return message.event("alert").json_data(alert).ok(),
        Event::Routing { routing, .. } => return message.event("routing").json_data(routing).ok(),
        _ => {}
    }
    Some(message.event("json_patch").data(format!("[{}]", patch(&record.event)?)))
}

/// A new attempt shows as the change of its task, which is an event of its own. The documents that clients keep have no
/// place for approvals, workers, alerts and routing decisions, which therefore have names of their own on this stream.
fn patch(event: &Event) -> Option<String> {
    Some(match event {
        Event::Task { change, task, .. } => {
            let op = match change {
                Change::Created => "add",
                Change::Updated => "replace",
            };
            put(op, &format!("/tasks/{}", task.task.id), task)
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
