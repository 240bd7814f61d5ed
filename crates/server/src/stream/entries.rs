//! Normalised logs: what an agent did, in readable entries.
//!
//! Invariant: the patches of a run are always the same, so `?after=n` may skip the first n of them.

use axum::extract::State;
use axum::http::HeaderMap;
use forge_core::{EntryTail, Forge, Result};
use forge_types::wire::NormalizedLogEntry;
use forge_types::{EntryPatch, PatchOp, RunId};
use futures_util::{Stream, stream};

use crate::App;
use crate::envelope::Answer;
use crate::extract::Id;
use crate::stream::delivery::Delivery;
use crate::stream::live::Numbering;
use crate::stream::monitor::Monitor;
use crate::stream::patch::{finished, frame, put, remove};
use crate::stream::settle::settle;
use crate::stream::socket::Batch;

pub(crate) async fn watch(
    State(app): State<App>,
    Id(run): Id<RunId>,
    headers: HeaderMap,
    delivery: Delivery,
) -> Answer {
    let after = delivery.after();
    let entries = Entries {
        tail: app.forge.entries(run).await?,
        forge: app.forge.clone(),
        run,
        seen: 0,
        after: after.unwrap_or(0),
        numbering: Numbering::of(after),
        monitor: Monitor::of(&headers),
        idle: false,
    };
    delivery.send(&app, entries.frames()).await
}

struct Entries {
    forge: Forge,
    run: RunId,
    tail: EntryTail,
    /// Patches read so far.
    seen: i64,
    after: i64,
    numbering: Numbering,
    monitor: Monitor,
    /// The client has received everything that exists so far.
    idle: bool,
}

impl Entries {
    fn frames(self) -> impl Stream<Item = Result<Batch>> + Send + 'static {
        stream::try_unfold(Some(self), |entries| async move {
            let Some(mut entries) = entries else { return Ok(None) };
            loop {
                let patches = if entries.idle { entries.tail.next().await } else { entries.tail.now().await };
                let Some(patches) = patches? else { return Ok(Some((entries.end().await, None))) };
                entries.idle = patches.is_empty();
                let batch = entries.write_all(&patches);
                if entries.idle || !batch.is_empty() {
                    return Ok(Some((batch, Some(entries))));
                }
            }
        })
    }

    fn write_all(&mut self, patches: &[EntryPatch]) -> Batch {
        let mut batch = Vec::with_capacity(patches.len());
        for patch in patches {
            self.seen += 1;
            if self.seen > self.after {
                let content = patch.entry.as_ref().and_then(|entry| self.monitor.log(&entry.content));
                batch.extend(content.map(Into::into));
                batch.push(frame(self.numbering.seq(self.seen), &write(patch)).into());
            }
        }
        batch
    }

    async fn end(&mut self) -> Batch {
        let run = settle(&self.forge, self.run).await;
        let status = self.monitor.status(run.as_ref());
        status.into_iter().chain([finished(self.numbering.seq(self.seen + 1))]).map(Into::into).collect()
    }
}

fn write(patch: &EntryPatch) -> String {
    let path = format!("/entries/{}", patch.index);
    let op = match patch.op {
        PatchOp::Add => "add",
        PatchOp::Replace => "replace",
    };
    match &patch.entry {
        Some(entry) => put(op, &path, &NormalizedLogEntry::NormalizedEntry(entry)),
        None => remove(&path),
    }
}
