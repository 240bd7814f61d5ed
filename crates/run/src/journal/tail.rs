//! Following a journal to its end.
//!
//! Invariant: every record comes out once and in order, also when a call of `next` is dropped half way; after the end
//! it answers `None`, and by then the keeper has recorded that end, so the journal may be sealed. Memory: one batch.
//! Small reads of a growing file are done on the spot because they only copy from the page cache; everything else goes
//! to a blocking thread.

use std::io;
use std::path::{Path, PathBuf};

use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::{Kind, Reader, Record};
use crate::Progress;

const BATCH_BYTES: usize = 256 * 1024;
const DIRECT_BYTES: u64 = 64 * 1024;

pub struct Tail {
    dir: PathBuf,
    progress: Option<watch::Receiver<Progress>>,
    reader: Option<Reader>,
    /// Outlives a dropped call, so the reader comes back.
    errand: Option<JoinHandle<(Option<Reader>, io::Result<Answer>)>>,
    /// Read for a call that was dropped before it could take it.
    early: Vec<Record>,
    /// The End record has been handed out.
    ended: bool,
    done: bool,
}

enum Answer {
    Read(Vec<Record>),
    Skipped(u64),
}

#[derive(Clone, Copy)]
enum Question {
    Read,
    Skip(u64),
}

impl Tail {
    /// Without `progress` the journal is taken as finished.
    pub fn new(dir: &Path, progress: Option<watch::Receiver<Progress>>) -> Tail {
        Tail {
            dir: dir.to_owned(),
            progress,
            reader: None,
            errand: None,
            early: Vec::new(),
            ended: false,
            done: false,
        }
    }

    /// The next records, at most 256 KiB of payload. Waits while the run lives.
    pub async fn next(&mut self) -> io::Result<Option<Vec<Record>>> {
        loop {
            match self.now().await? {
                Some(batch) if batch.is_empty() => self.changed().await,
                other => return Ok(other),
            }
        }
    }

    /// As [`Tail::next`] without waiting: no records when those handed out so far are all there are at this moment.
    pub async fn now(&mut self) -> io::Result<Option<Vec<Record>>> {
        if self.done {
            return Ok(None);
        }
        // Looked at before reading: whatever is appended later changes it again.
        let (len, finished) = match &mut self.progress {
            Some(progress) => {
                let now = progress.borrow_and_update();
                (now.len, now.exit.is_some())
            }
            None => (u64::MAX, true),
        };
        let batch = if self.ended { Vec::new() } else { self.read(len).await? };
        self.ended |= batch.last().is_some_and(|record| record.kind == Kind::End);
        self.done = batch.is_empty() && finished;
        Ok(Some(batch).filter(|_| !self.done))
    }

    /// Waits until there may be more.
    async fn changed(&mut self) {
        if let Some(progress) = &mut self.progress
            && progress.changed().await.is_err()
        {
            self.progress = None;
        }
    }

    /// Whether the records handed out so far are all there are at this moment. Never so for a finished journal.
    pub fn has_caught_up(&self) -> bool {
        self.early.is_empty() && !self.ended && self.reader.as_ref().is_some_and(Reader::is_at_end)
    }

    /// Passes over outputs that are already recorded and not yet handed out; answers how many.
    pub async fn skip_outputs(&mut self, n: u64) -> io::Result<u64> {
        loop {
            match self.ask(Question::Skip(n)).await? {
                Answer::Skipped(skipped) => return Ok(skipped),
                Answer::Read(batch) => self.early.extend(batch),
            }
        }
    }

    async fn read(&mut self, len: u64) -> io::Result<Vec<Record>> {
        if !self.early.is_empty() {
            return Ok(std::mem::take(&mut self.early));
        }
        if self.errand.is_none()
            && let Some(reader) = &mut self.reader
            && reader.is_plain()
            && len.saturating_sub(reader.position()) <= DIRECT_BYTES
        {
            let mut batch = Vec::new();
            reader.read(DIRECT_BYTES as usize, &mut batch)?;
            return Ok(batch);
        }
        loop {
            match self.ask(Question::Read).await? {
                Answer::Read(batch) => return Ok(batch),
                Answer::Skipped(_) => {}
            }
        }
    }

    /// Puts the question unless an earlier one, whose asker went away, is still to be answered.
    async fn ask(&mut self, question: Question) -> io::Result<Answer> {
        let errand = match &mut self.errand {
            Some(errand) => errand,
            None => {
                let (dir, reader) = (self.dir.clone(), self.reader.take());
                self.errand.insert(tokio::task::spawn_blocking(move || answer(&dir, reader, question)))
            }
        };
        let outcome = errand.await;
        self.errand = None;
        let (reader, answer) = outcome.map_err(|e| {
            // The reader's place is lost with it, and starting over would repeat records.
            self.done = true;
            io::Error::other(e)
        })?;
        self.reader = reader;
        answer
    }
}

fn answer(dir: &Path, reader: Option<Reader>, question: Question) -> (Option<Reader>, io::Result<Answer>) {
    let mut reader = match reader.map_or_else(|| Reader::open(dir), Ok) {
        Ok(reader) => reader,
        Err(e) => return (None, Err(e)),
    };
    let answer = match question {
        Question::Read => {
            let mut batch = Vec::new();
            reader.read(BATCH_BYTES, &mut batch).map(|()| Answer::Read(batch))
        }
        Question::Skip(n) => reader.skip_outputs(n).map(Answer::Skipped),
    };
    (Some(reader), answer)
}
