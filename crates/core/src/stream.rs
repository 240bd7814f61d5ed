//! Logs and entries as they grow.
//!
//! Invariant: everything is read from disk at the reader's pace; a slow reader costs nobody memory and loses nothing.
//! Entries are folded anew for each reader, so live and replay agree by construction.

use std::time::Duration;

use forge_run::fold::{Dialect, Fold};
use forge_run::{Record, Tail};
use forge_types::{EntryPatch, Run, RunId};

use crate::{Error, Forge, Result};

/// How long a reader of a run that has not started yet waits between two looks, at most.
const LOOK: Duration = Duration::from_millis(250);

/// The records of one run, from the first to the last, whenever the reader comes.
pub struct LogTail {
    forge: Forge,
    id: RunId,
    tail: Option<Tail>,
    skip: u64,
}

impl Forge {
    pub async fn log(&self, id: RunId) -> Result<LogTail> {
        self.run(id).await?;
        Ok(LogTail { forge: self.clone(), id, tail: None, skip: 0 })
    }

    pub async fn entries(&self, id: RunId) -> Result<EntryTail> {
        let run = self.run(id).await?;
        let site = self.site(run.owner).await?;
        let executor = run.action.profile().map(|profile| profile.executor);
        let fold = Fold::new(Dialect::of(executor, run.reason), &self.lens(id, &site));
        Ok(EntryTail { log: self.log(id).await?, fold, finished: false })
    }

    /// The transcript of an ended run.
    pub async fn run_output(&self, run: &Run) -> Option<String> {
        if !run.phase.is_over() {
            return None;
        }
        tokio::fs::read_to_string(self.run_dir(run.id).join("output.txt")).await.ok()
    }
}

impl EntryTail {
    /// The transcript of what is on record now, without waiting for more.
    pub(crate) async fn transcript_now(mut self) -> Result<Option<String>> {
        let mut patches = Vec::new();
        while !self.log.tail.as_ref().is_some_and(Tail::has_caught_up) {
            let Some(records) = self.log.next().await? else { break };
            records.iter().for_each(|record| self.fold.push(record, &mut patches));
            patches.clear();
        }
        self.fold.finish(&mut patches);
        Ok(self.fold.outcome().transcript_tail.clone())
    }
}

impl LogTail {
    /// The next records, waiting for them while the run lives; `None` once everything was read.
    pub async fn next(&mut self) -> Result<Option<Vec<Record>>> {
        let unreadable = |cause| Error::internal("the run's log cannot be read", cause);
        let tail = match &mut self.tail {
            Some(tail) => tail,
            empty => {
                let mut tail = open_tail(&self.forge, self.id).await?;
                tail.skip_outputs(self.skip).await.map_err(unreadable)?;
                empty.insert(tail)
            }
        };
        tail.next().await.map_err(unreadable)
    }

    /// Leaves out the first `count` output records.
    pub async fn skip_outputs(&mut self, count: u64) -> Result<()> {
        self.skip = count;
        Ok(())
    }
}

/// Opens the log of a run once it has a process or has ended.
async fn open_tail(forge: &Forge, id: RunId) -> Result<Tail> {
    loop {
        let changed = forge.0.changed.notified();
        let progress = forge.attended().get(&id).map(|attended| attended.live.progress());
        if progress.is_some() || forge.run(id).await?.phase.is_over() {
            return Ok(Tail::new(&forge.run_dir(id), progress));
        }
        let _ = tokio::time::timeout(LOOK, changed).await;
    }
}

/// The readable log of one run.
pub struct EntryTail {
    log: LogTail,
    fold: Fold,
    finished: bool,
}

impl EntryTail {
    /// The next patches, never none; `None` once the run's log is at its end.
    pub async fn next(&mut self) -> Result<Option<Vec<EntryPatch>>> {
        let mut patches = Vec::new();
        while patches.is_empty() && !self.finished {
            match self.log.next().await? {
                Some(records) => records.iter().for_each(|record| self.fold.push(record, &mut patches)),
                None => {
                    self.fold.finish(&mut patches);
                    self.finished = true;
                }
            }
        }
        Ok(Some(patches).filter(|patches| !patches.is_empty()))
    }
}
