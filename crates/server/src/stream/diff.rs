//! What an attempt changed, file by file: `/entries/<path>`.
//!
//! Invariant: a file is always written whole with `add`, which overwrites. There is no history of a diff: a client that
//! comes back gets all of it again, numbered from 1 when it asked for numbers.

use std::pin::pin;

use axum::extract::State;
use forge_core::{DiffDetail, DiffFeed, DiffStep, Result};
use forge_types::AttemptId;
use forge_types::wire::DiffEntry;
use futures_util::{Stream, StreamExt, stream};
use tokio::sync::mpsc;

use crate::App;
use crate::envelope::Answer;
use crate::extract::{Id, Params};
use crate::stream::delivery::Delivery;
use crate::stream::live::Numbering;
use crate::stream::patch::{finished, frame, pointer_step, put, remove};
use crate::stream::socket::Batch;

pub(crate) async fn watch(
    State(app): State<App>,
    Id(attempt): Id<AttemptId>,
    params: Params,
    delivery: Delivery,
) -> Answer {
    let detail = match params.flag("stats_only")? {
        true => DiffDetail::StatsOnly,
        false => DiffDetail::Contents,
    };
    let numbering = Numbering::of(delivery.after());
    let feed = app.forge.diff(attempt, detail).await?;
    delivery.send(&app, frames(&app, feed, numbering)).await
}

/// One batch is read and written while the one before it is sent to the client.
fn frames(
    app: &App,
    feed: DiffFeed,
    numbering: Numbering,
) -> impl Stream<Item = Result<Batch>> + Send + 'static {
    let (batches, ahead) = mpsc::channel(1);
    app.sockets.spawn(async move {
        let mut written = pin!(write_all(feed, numbering));
        loop {
            // A diff may not change for hours: the client's leaving must be noticed before that.
            let batch = tokio::select! {
                () = batches.closed() => return,
                batch = written.next() => batch,
            };
            let Some(batch) = batch else { return };
            if batches.send(batch).await.is_err() {
                return;
            }
        }
    });
    stream::unfold(ahead, async |mut ahead| Some((ahead.recv().await?, ahead)))
}

fn write_all(feed: DiffFeed, numbering: Numbering) -> impl Stream<Item = Result<Batch>> + Send + 'static {
    stream::try_unfold((Some(feed), 1), move |(feed, count)| async move {
        let Some(mut feed) = feed else { return Ok(None) };
        let Some(steps) = feed.next().await? else {
            return Ok(Some((vec![finished(numbering.seq(count)).into()], (None, count))));
        };
        let batch =
            steps.iter().zip(count..).map(|(step, seq)| frame(numbering.seq(seq), &write(step)).into());
        Ok(Some((batch.collect(), (Some(feed), count + steps.len() as i64))))
    })
}

fn write(step: &DiffStep) -> String {
    match step {
        DiffStep::Put(diff) => put("add", &path(diff.key()), &DiffEntry::Diff(diff)),
        DiffStep::Remove(file) => remove(&path(file)),
    }
}

fn path(file: &str) -> String {
    format!("/entries/{}", pointer_step(file))
}
