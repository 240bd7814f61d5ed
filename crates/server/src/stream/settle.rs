//! The moment between the end of a log and the end of its run.
//!
//! A log ends when the process is gone; the run ends a little later, after its work is committed. Invariant: a client
//! that receives `finished` and then requests the run finds it ended, unless ending takes longer than [`LIMIT`].

use std::time::Duration;

use forge_core::{Forge, Result};
use forge_types::{Event, Run, RunId};

const LIMIT: Duration = Duration::from_secs(30);

/// The run, once it has ended; `None` when that takes too long or the run is gone.
pub(crate) async fn settle(forge: &Forge, id: RunId) -> Option<Run> {
    let ended = tokio::time::timeout(LIMIT, wait(forge, id)).await;
    ended.ok()?.ok().flatten()
}

async fn wait(forge: &Forge, id: RunId) -> Result<Option<Run>> {
    // The feed begins before the query, so that no event is lost in between.
    let mut feed = forge.feed(forge.latest_seq());
    let run = forge.run(id).await?;
    if run.phase.is_over() {
        return Ok(Some(run));
    }
    loop {
        for record in feed.next().await? {
            match &record.event {
                Event::Run { run, .. } if run.id == id && run.phase.is_over() => {
                    return Ok(Some(run.clone()));
                }
                Event::RunRemoved { id: gone, .. } if *gone == id => return Ok(None),
                _ => {}
            }
        }
    }
}
