//! Logs and entries as they grow.
//!
//! Invariant: everything is read from disk at the reader's pace; a slow reader costs nobody memory and loses nothing.
//! Entries are folded again for each reader, so live and replay agree by construction. No reader sees a secret of the run.

use std::time::Duration;

use forge_run::fold::{Dialect, Fold};
use forge_run::{Record, Tail, View};
use forge_types::{EntryPatch, Run, RunId};

use crate::worktree::workplace::Workplace;
use crate::{Error, Forge, Result};

/// How long a reader of a run that has not started yet waits between two looks, at most.
const LOOK: Duration = Duration::from_millis(250);

/// Where a reader of a log begins, counted in outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogStart {
    /// After the first so many.
    After(u64),
    /// With the last so many of those that are there when the log is opened.
    Last(u64),
}

/// The records of one run to the last, whenever the reader comes.
pub struct LogTail {
    forge: Forge,
    id: RunId,
    tail: Option<Tail>,
    view: View,
    start: LogStart,
    first: u64,
}

impl Forge {
    pub async fn log(&self, id: RunId, start: LogStart) -> Result<LogTail> {
        self.run(id).await?;
        Ok(self.log_as(View::Masked, id, start))
    }

    fn log_as(&self, view: View, id: RunId, start: LogStart) -> LogTail {
        LogTail { forge: self.clone(), id, tail: None, view, start, first: 0 }
    }

    pub async fn entries(&self, id: RunId) -> Result<EntryTail> {
        let run = self.run(id).await?;
        let workplace = self.workplace(run.owner).await?;
        let executor = run.action.profile().map(|profile| profile.executor);
        let dialect = Dialect::of(executor, run.reason);
        // The fold reads what was written and masks what comes out: a secret may be spread over several messages.
        let log = self.log_as(View::Exact, id, LogStart::After(0));
        Ok(EntryTail { log, workplace, dialect, fold: None, finished: false })
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
        while let Some(records) = self.log.now().await?.filter(|records| !records.is_empty()) {
            let fold = self.open_fold().await?;
            records.iter().for_each(|record| fold.push(record, &mut patches));
            patches.clear();
        }
        let fold = self.open_fold().await?;
        fold.finish(&mut patches);
        Ok(fold.outcome().transcript_tail.clone())
    }
}

impl LogTail {
    /// The next records, waiting for them while the run lives; `None` once everything was read.
    pub async fn next(&mut self) -> Result<Option<Vec<Record>>> {
        loop {
            if let Some(tail) = &mut self.tail {
                return tail.next().await.map_err(unreadable);
            }
            let forge = self.forge.clone();
            let changed = forge.0.runs.changed.notified();
            if !self.open().await? {
                let _ = tokio::time::timeout(LOOK, changed).await;
            }
        }
    }

    /// As [`LogTail::next`] without waiting: no records when those read so far are all there are at this moment.
    pub async fn now(&mut self) -> Result<Option<Vec<Record>>> {
        self.open().await?;
        match &mut self.tail {
            Some(tail) => tail.now().await.map_err(unreadable),
            None => Ok(Some(Vec::new())),
        }
    }

    /// Opens the log of a run that has a process or has ended; returns whether it is open.
    async fn open(&mut self) -> Result<bool> {
        if self.tail.is_none() {
            let progress = self.forge.attended().get(&self.id).map(|attended| attended.live.progress());
            if progress.is_none() && !self.forge.run(self.id).await?.phase.is_over() {
                return Ok(false);
            }
            let mut tail = Tail::new(&self.forge.run_dir(self.id), self.view, progress);
            self.first = match self.start {
                LogStart::After(count) => {
                    tail.skip_outputs(count).await.map_err(unreadable)?;
                    count
                }
                LogStart::Last(count) => tail.skip_to_last(count).await.map_err(unreadable)?,
            };
            self.tail = Some(tail);
        }
        Ok(true)
    }

    /// The number of the first output that is handed out; known once there is one.
    pub fn first(&self) -> u64 {
        self.first
    }
}

fn unreadable(cause: std::io::Error) -> Error {
    Error::internal("the run's log cannot be read", cause)
}

/// The readable log of one run.
pub struct EntryTail {
    log: LogTail,
    workplace: Workplace,
    dialect: Dialect,
    /// Begun with the first record.
    fold: Option<Fold>,
    finished: bool,
}

impl EntryTail {
    /// The next patches, never none; `None` once the run's log is at its end.
    pub async fn next(&mut self) -> Result<Option<Vec<EntryPatch>>> {
        loop {
            let records = self.log.next().await?;
            match self.fold(records).await? {
                Some(patches) if patches.is_empty() => {}
                other => return Ok(other),
            }
        }
    }

    /// As [`EntryTail::next`] without waiting: no patches when all there are at this moment were sent.
    pub async fn now(&mut self) -> Result<Option<Vec<EntryPatch>>> {
        loop {
            let records = self.log.now().await?;
            let is_all = records.as_ref().is_some_and(Vec::is_empty);
            match self.fold(records).await? {
                Some(patches) if patches.is_empty() && !is_all => {}
                other => return Ok(other),
            }
        }
    }

    /// What the records mean; those at the log's end (`None`) are sent once.
    async fn fold(&mut self, records: Option<Vec<Record>>) -> Result<Option<Vec<EntryPatch>>> {
        let mut patches = Vec::new();
        match records {
            Some(records) if records.is_empty() => {}
            Some(records) => {
                let fold = self.open_fold().await?;
                records.iter().for_each(|record| fold.push(record, &mut patches));
            }
            None if self.finished => return Ok(None),
            None => {
                self.open_fold().await?.finish(&mut patches);
                self.finished = true;
                return Ok(Some(patches).filter(|patches| !patches.is_empty()));
            }
        }
        Ok(Some(patches))
    }

    async fn open_fold(&mut self) -> Result<&mut Fold> {
        let EntryTail { log, workplace, dialect, fold, .. } = self;
        Ok(match fold {
            Some(fold) => fold,
            empty => empty.insert(Fold::new(*dialect, &log.forge.fold_context(log.id, workplace).await?)),
        })
    }
}
