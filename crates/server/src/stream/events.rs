//! Everything that happens, as server-sent events.
//!
//! Invariant: the id of an event is its number in the log; a client that names one gets all later ones, a client that
//! names none gets everything since the server started. All projects, agent chats included.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::IntoResponse;
use axum::response::sse::{Event as Message, KeepAlive, Sse};
use forge_core::{Dropped, EventFeed};
use forge_types::{Change, Event, EventRecord};
use futures_util::{Stream, StreamExt, stream};

use crate::App;
use crate::envelope::{Answer, Fault};
use crate::extract::Params;
use crate::stream::drafts::patch_draft;
use crate::stream::patch::{put, remove};
use crate::stream::runs::{patch_run, path};
use crate::wire;

const KEEP_ALIVE: Duration = Duration::from_secs(15);

pub(crate) async fn watch(State(app): State<App>, params: Params, headers: HeaderMap) -> Answer {
    let position = match read_last_id(&headers)? {
        Some(id) => Some(id),
        None => params.after()?,
    };
    let feed = app.forge.feed(position.unwrap_or_else(|| app.forge.start_seq()));
    let messages = messages(feed).take_until(app.shutdown.clone().cancelled_owned());
    let messages = messages.map(Ok::<_, Infallible>);
    Ok(Sse::new(messages).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response())
}

fn read_last_id(headers: &HeaderMap) -> Result<Option<i64>, Fault> {
    let Some(value) = headers.get("last-event-id").filter(|value| !value.is_empty()) else { return Ok(None) };
    let id = value.to_str().ok().and_then(|text| text.parse().ok()).filter(|id| *id >= 0);
    match id {
        Some(id) => Ok(Some(id)),
        None => Err(Fault::bad_request("Last-Event-ID: not an event number; send the last id you received")),
    }
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
    if let Event::Approval { approval, .. } = &record.event {
        return message.event("approval").json_data(wire::approval(approval)).ok();
    }
    Some(message.event("json_patch").data(format!("[{}]", patch(&record.event)?)))
}

/// A new attempt shows as the change of its task, which is an event of its own. The documents that clients keep have no
/// place for approvals, which therefore have a name of their own on this stream.
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
        | Event::Approval { .. } => return None,
    })
}
