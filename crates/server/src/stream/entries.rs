//! Normalised logs: what an agent did, in readable entries.
//!
//! Invariants: the patches of a run are always the same, so `?after=n` may skip the first n of them. A numbered frame
//! holds the patches that come at once and has the number of its last; their entries ascend, because shipped clients
//! apply only the last of several patches of one path. Without numbers a frame has one patch, as it always had.

use std::io::Write as _;

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
use crate::stream::patch::{finished, frame};
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

/// No frame of several patches is larger: the least that a common WebSocket library reads is 32 KiB.
const FRAME_BYTES: usize = 31 << 10;

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
        let mut batch = Batch::new();
        let (mut text, mut one) = (String::new(), Vec::new());
        let mut last = 0;
        for patch in patches {
            self.seen += 1;
            if self.seen <= self.after {
                continue;
            }
            let one = write(&mut one, patch);
            let content = patch.entry.as_ref().and_then(|entry| self.monitor.log(&entry.content));
            let is_shared = matches!(self.numbering, Numbering::Numbered) && content.is_none();
            let fits = is_shared && patch.index > last && text.len() + one.len() < FRAME_BYTES;
            if !text.is_empty() && !fits {
                batch.push(frame(self.numbering.seq(self.seen - 1), &text).into());
                text.clear();
            }
            batch.extend(content.map(Into::into));
            if !text.is_empty() {
                text.push(',');
            }
            text.push_str(one);
            last = patch.index;
        }
        if !text.is_empty() {
            batch.push(frame(self.numbering.seq(self.seen), &text).into());
        }
        batch
    }

    async fn end(&mut self) -> Batch {
        let run = settle(&self.forge, self.run).await;
        let status = self.monitor.status(run.as_ref());
        status.into_iter().chain([finished(self.numbering.seq(self.seen + 1))]).map(Into::into).collect()
    }
}

/// The patch as text, in a buffer that is used again.
fn write<'a>(text: &'a mut Vec<u8>, patch: &EntryPatch) -> &'a str {
    let op = match (&patch.entry, patch.op) {
        (None, _) => "remove",
        (_, PatchOp::Add) => "add",
        (_, PatchOp::Replace) => "replace",
    };
    text.clear();
    // Writing into memory cannot fail, and entries always serialise, to text.
    let _ = write!(text, r#"{{"op":"{op}","path":"/entries/{}""#, patch.index);
    if let Some(entry) = &patch.entry {
        text.extend_from_slice(br#","value":"#);
        let _ = serde_json::to_writer(&mut *text, &NormalizedLogEntry::NormalizedEntry(entry));
    }
    text.push(b'}');
    std::str::from_utf8(text).unwrap_or_default()
}
