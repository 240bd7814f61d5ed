//! A page of frames in one response, for clients that cannot use the other transports.
//!
//! Invariant: a response waits no longer than requested and contains little more than [`MAX_BYTES`]; a client that asks
//! again after the last number misses nothing.

use std::pin::pin;
use std::time::Duration;

use forge_core::Error;
use forge_types::wire::FramePage;
use futures_util::{Stream, StreamExt};
use serde_json::value::RawValue;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::envelope::{Answer, ok};
use crate::stream::patch::is_end;
use crate::stream::socket::Batch;

const MAX_BYTES: usize = 4 << 20;
/// How long reading the existing frames may take.
const READ_LIMIT: Duration = Duration::from_secs(30);

pub(crate) async fn read(
    frames: impl Stream<Item = Result<Batch, Error>>,
    wait: Duration,
    shutdown: &CancellationToken,
) -> Answer {
    let mut frames = pin!(frames.take_until(shutdown.cancelled()));
    let (begun, mut bytes, mut page) = (Instant::now(), 0, FramePage::<Box<RawValue>>::default());
    let mut caught_up = false;
    loop {
        let limit = if caught_up { wait } else { READ_LIMIT };
        let Ok(batch) = timeout_at(begun + limit, frames.next()).await else { break };
        let Some(batch) = batch.transpose()? else { break };
        caught_up = batch.is_empty();
        if caught_up && !page.frames.is_empty() {
            break;
        }
        bytes += batch.iter().map(|frame| frame.len()).sum::<usize>();
        page.frames.extend(batch.iter().filter_map(|frame| serde_json::from_str(frame).ok()));
        page.more = bytes >= MAX_BYTES;
        if page.more {
            break;
        }
    }
    page.finished = page.frames.last().is_some_and(|frame| is_end(frame.get()));
    page.more &= !page.finished;
    Ok(ok(page))
}
