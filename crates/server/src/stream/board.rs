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
use tokio::sync::broadcast::error::RecvError;

use crate::App;
use crate::stream::events::{WireEvent, frame, to_wire};
use crate::stream::patch::remove;
use crate::stream::socket::Batch;
use crate::stream::tasks::put_task;

/// How many batches wait for a slow board; one that is slower reads them from the log.
const WAITING_MAX: usize = 256;

/// Frames up to an event.
struct Written {
    position: i64,
    frames: Batch,
}

/// The boards that are open.
#[derive(Clone, Default)]
pub(crate) struct Boards(Arc<Mutex<Open>>);

#[derive(Default)]
struct Open {
    /// Everything up to here was sent.
    position: i64,
    sender: Option<broadcast::Sender<Arc<Written>>>,
}

impl Boards {
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is sent from now on, and the last event that was sent before.
    fn join(&self, app: &App) -> (broadcast::Receiver<Arc<Written>>, i64) {
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
    async fn write_all(self, app: App, sender: broadcast::Sender<Arc<Written>>, mut position: i64) {
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
                    Err(RecvError::Lagged(_)) => continue,
                    Err(RecvError::Closed) => break,
                },
            };
            let Ok(frames) = frames.inspect_err(|error| tracing::warn!(%error, "boards cannot be served"))
            else {
                break;
            };
            let mut open = self.lock();
            open.position = position;
            // Nobody may be left.
            let _ = sender.send(Arc::new(Written { position, frames }));
        }
        self.lock().sender = None;
    }
}

/// The frame `hello`, then everything after `seq`.
pub(crate) fn follow(app: &App, seq: i64, hello: String) -> impl Stream<Item = Result<Batch>> + Send + use<> {
    let reader = Reader { app: app.clone(), position: seq, live: None, first: Some(hello), is_idle: false };
    stream::try_unfold(reader, |mut reader| async move {
        let batch = reader.next().await?;
        Ok(Some((batch, reader)))
    })
}

struct Reader {
    app: App,
    position: i64,
    live: Option<broadcast::Receiver<Arc<Written>>>,
    first: Option<String>,
    /// The client has everything that exists so far.
    is_idle: bool,
}

impl Reader {
    /// An empty batch when there is no more at this moment.
    async fn next(&mut self) -> Result<Batch> {
        if let Some(first) = self.first.take() {
            return Ok(vec![first.into()]);
        }
        loop {
            if self.live.is_none() {
                let (live, until) = self.app.boards.join(&self.app);
                let missed = self.catch_up(until).await?;
                self.live = Some(live);
                if !missed.is_empty() {
                    return Ok(missed);
                }
            }
            let Some(live) = &mut self.live else { continue };
            if live.is_empty() && !self.is_idle {
                self.is_idle = true;
                return Ok(Batch::new());
            }
            match live.recv().await {
                Ok(written) => {
                    self.is_idle = false;
                    self.position = written.position;
                    return Ok(written.frames.clone());
                }
                Err(RecvError::Lagged(_)) => self.live = None,
                Err(RecvError::Closed) => return Err(Error::new(Kind::Internal, "the boards are closed")),
            }
        }
    }

    /// What happened up to an event, read from the log.
    async fn catch_up(&mut self, until: i64) -> Result<Batch> {
        let mut missed = Batch::new();
        let mut feed = self.app.forge.feed(self.position);
        while self.position < until {
            let mut records = feed.next().await?;
            records.retain(|record| record.seq <= until);
            if records.is_empty() {
                self.position = until;
                break;
            }
            missed.extend(write(&self.app.forge, &mut self.position, &records).await?);
        }
        Ok(missed)
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
