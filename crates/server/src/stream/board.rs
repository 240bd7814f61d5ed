//! What a board shows, as it changes: the events, and beside them cards with their attempts and what lies in git.
//!
//! Invariants: frames are written once, however many boards are open, and only while one is. What was derived from
//! events comes before them under the number before them, so a board that is cut off in between gets both again. Signs
//! are in no log: a board that was cut off has to look again at what they are about.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use forge_core::{Error, Forge, Kind, Result, Sign};
use forge_types::{Change, Event, EventRecord};
use futures_util::{Stream, stream};
use tokio::sync::broadcast;

use crate::App;
use crate::stream::events::{WireEvent, frame, to_wire};
use crate::stream::patch::remove;
use crate::stream::socket::Batch;
use crate::stream::tasks::put_task;

/// How many batches wait for a slow board; one that is slower is cut off.
const WAITING_MAX: usize = 256;

/// The boards that are open.
#[derive(Clone, Default)]
pub(crate) struct Boards(Arc<Mutex<Open>>);

#[derive(Default)]
struct Open {
    /// Everything up to here was sent.
    position: i64,
    sender: Option<broadcast::Sender<Arc<Batch>>>,
}

impl Boards {
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is sent from now on, and the last event that was sent before.
    fn join(&self, app: &App) -> (broadcast::Receiver<Arc<Batch>>, i64) {
        let mut open = self.lock();
        if let Some(sender) = &open.sender {
            return (sender.subscribe(), open.position);
        }
        let (sender, receiver) = broadcast::channel(WAITING_MAX);
        open.position = app.forge.latest_seq();
        open.sender = Some(sender.clone());
        app.sockets.spawn(self.clone().write_all(app.clone(), sender, open.position));
        (receiver, open.position)
    }

    /// Writes until no board is open.
    async fn write_all(self, app: App, sender: broadcast::Sender<Arc<Batch>>, mut position: i64) {
        let (mut feed, mut signs) = (app.forge.feed(position), app.forge.signs());
        loop {
            let frames = tokio::select! {
                () = app.shutdown.cancelled() => break,
                () = sender.closed() => {
                    // Somebody may have joined meanwhile.
                    let mut open = self.lock();
                    if sender.receiver_count() == 0 {
                        open.sender = None;
                        return;
                    }
                    continue;
                }
                records = feed.next() => match records {
                    Ok(records) => write(&app.forge, &mut position, &records).await,
                    Err(error) => Err(error),
                },
                sign = signs.recv() => match sign {
                    Ok(sign) => Ok(vec![frame(position, &show(&sign)).into()]),
                    // Boards come back and look again.
                    Err(_) => break,
                },
            };
            let Ok(frames) = frames.inspect_err(|error| tracing::warn!(%error, "boards cannot be served"))
            else {
                break;
            };
            let mut open = self.lock();
            open.position = position;
            // Nobody may be left.
            let _ = sender.send(Arc::new(frames));
        }
        self.lock().sender = None;
    }
}

/// The frame `hello`, then everything after `seq`.
pub(crate) fn follow(app: &App, seq: i64, hello: String) -> impl Stream<Item = Result<Batch>> + Send + use<> {
    let reader = Reader { app: app.clone(), first: Some(hello), position: seq, live: None, is_idle: false };
    stream::try_unfold(reader, |mut reader| async move {
        let batch = reader.next().await?;
        Ok(Some((batch, reader)))
    })
}

struct Reader {
    app: App,
    first: Option<String>,
    position: i64,
    /// What is sent to all boards, and the event up to which the log is read before it.
    live: Option<(broadcast::Receiver<Arc<Batch>>, i64)>,
    /// The client has everything that exists so far.
    is_idle: bool,
}

impl Reader {
    /// One batch; an empty one when there is no more at this moment.
    async fn next(&mut self) -> Result<Batch> {
        if let Some(first) = self.first.take() {
            return Ok(vec![first.into()]);
        }
        let (live, until) = self.live.get_or_insert_with(|| self.app.boards.join(&self.app));
        if self.position < *until {
            let mut records = self.app.forge.feed(self.position).next().await?;
            records.retain(|record| record.seq <= *until);
            // Where the log has nothing up to there, the rest is live.
            let written = write(&self.app.forge, &mut self.position, &records).await;
            self.position = if records.is_empty() { *until } else { self.position };
            return written;
        }
        if live.is_empty() && !self.is_idle {
            self.is_idle = true;
            return Ok(Batch::new());
        }
        self.is_idle = false;
        // One that is too slow comes back, reads the log, and looks again at what signs are about.
        let lost = |_| Error::new(Kind::Internal, "a board cannot be served further");
        live.recv().await.map(|frames| frames.to_vec()).map_err(lost)
    }
}

/// The cards that the events changed, then the events.
async fn write(forge: &Forge, position: &mut i64, records: &[Arc<EventRecord>]) -> Result<Batch> {
    let mut frames = Batch::new();
    for change in forge.changed_cards(records).await? {
        frames.push(frame(*position, &WireEvent::new("card", &change)).into());
    }
    for record in records {
        *position = record.seq;
        frames.extend(to_board(&record.event).map(|event| frame(record.seq, &event).into()));
    }
    Ok(frames)
}

/// As for others, but without descriptions, and an agent chat is no task.
fn to_board(event: &Event) -> Option<WireEvent> {
    let patch = match event {
        Event::Task { task, hidden: true, .. } => remove(&format!("/tasks/{}", task.task.id)),
        Event::Task { change: Change::Created, task, .. } => put_task("add", task, true),
        Event::Task { change: Change::Updated, task, .. } => put_task("replace", task, true),
        // It was sent with its card.
        Event::AttemptCreated { .. } | Event::AttemptRemoved { .. } => return None,
        other => return to_wire(other),
    };
    Some(WireEvent::patch(&patch))
}

fn show(sign: &Sign) -> WireEvent {
    match sign {
        Sign::Branch(change) => WireEvent::new("branch", change),
        Sign::Conflicts(change) => WireEvent::new("conflicts", change),
        Sign::Beads(project) => WireEvent::new("beads", project),
    }
}
