//! Following a journal to its end.
//!
//! Invariant: every record is returned once and in order, even when a call of `next` is dropped halfway; after the
//! end it returns `None`, and by then the keeper has recorded that end, so the journal may be sealed. Memory: one
//! batch. Small reads of a growing file are done directly because they only copy from the page cache; everything
//! else runs on a blocking thread.

use std::io;
use std::path::{Path, PathBuf};

use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::{Kind, Reader, Record, View};
use crate::Progress;

const BATCH_BYTES: usize = 256 * 1024;
const DIRECT_BYTES: u64 = 64 * 1024;

pub struct Tail {
    dir: PathBuf,
    view: View,
    progress: Option<watch::Receiver<Progress>>,
    reader: Option<Reader>,
    /// Outlives a dropped call, so the reader comes back.
    running: Option<JoinHandle<(Option<Reader>, io::Result<JobResult>)>>,
    /// Read for a call that was dropped before it could return it.
    buffered: Vec<Record>,
    /// The End record has been returned.
    ended: bool,
    done: bool,
}

enum JobResult {
    Read(Vec<Record>),
    Skipped(u64),
}

#[derive(Clone, Copy)]
enum Job {
    Read,
    Skip(u64),
    SkipToLast(u64),
}

impl Tail {
    /// Without `progress` the journal is assumed to be finished.
    pub fn new(dir: &Path, view: View, progress: Option<watch::Receiver<Progress>>) -> Tail {
        Tail {
            dir: dir.to_owned(),
            view,
            progress,
            reader: None,
            running: None,
            buffered: Vec::new(),
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

    /// Like [`Tail::next`] without waiting: returns no records when there are currently no more.
    pub async fn now(&mut self) -> io::Result<Option<Vec<Record>>> {
        if self.done {
            return Ok(None);
        }
        // Read before the records: whatever is appended later changes it again.
        let whole_bytes = self.progress.as_mut().map_or(u64::MAX, |it| whole_bytes(&it.borrow_and_update()));
        let batch = if self.ended { Vec::new() } else { self.read(whole_bytes).await? };
        self.ended |= batch.last().is_some_and(|record| record.kind == Kind::End);
        self.done = batch.is_empty() && whole_bytes == u64::MAX;
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

    /// Whether all current records have been returned. Always false for a finished journal.
    pub fn has_caught_up(&self) -> bool {
        self.buffered.is_empty() && !self.ended && self.reader.as_ref().is_some_and(Reader::is_at_end)
    }

    /// Skips outputs that are already recorded and not yet returned; returns how many.
    pub async fn skip_outputs(&mut self, n: u64) -> io::Result<u64> {
        self.skip(Job::Skip(n)).await
    }

    /// Skips all recorded outputs except the last `n`; returns how many. Only for a tail that has not been read
    /// yet.
    pub async fn skip_to_last(&mut self, n: u64) -> io::Result<u64> {
        self.skip(Job::SkipToLast(n)).await
    }

    async fn skip(&mut self, job: Job) -> io::Result<u64> {
        let whole_bytes = self.progress.as_ref().map_or(u64::MAX, |it| whole_bytes(&it.borrow()));
        loop {
            match self.run_job(job, whole_bytes).await? {
                JobResult::Skipped(skipped) => return Ok(skipped),
                JobResult::Read(batch) => self.buffered.extend(batch),
            }
        }
    }

    async fn read(&mut self, whole_bytes: u64) -> io::Result<Vec<Record>> {
        if !self.buffered.is_empty() {
            return Ok(std::mem::take(&mut self.buffered));
        }
        if self.running.is_none()
            && let Some(reader) = &mut self.reader
            && reader.is_plain()
            && whole_bytes.saturating_sub(reader.position()) <= DIRECT_BYTES
        {
            reader.trust(whole_bytes);
            let mut batch = Vec::new();
            reader.read(DIRECT_BYTES as usize, &mut batch)?;
            return Ok(batch);
        }
        loop {
            match self.run_job(Job::Read, whole_bytes).await? {
                JobResult::Read(batch) => return Ok(batch),
                JobResult::Skipped(_) => {}
            }
        }
    }

    /// Starts the job unless an earlier one, whose caller was dropped, is still running.
    async fn run_job(&mut self, job: Job, whole_bytes: u64) -> io::Result<JobResult> {
        let running = match &mut self.running {
            Some(running) => running,
            None => {
                let (dir, view, reader) = (self.dir.clone(), self.view, self.reader.take());
                let search = move || do_job(&dir, view, reader, job, whole_bytes);
                self.running.insert(tokio::task::spawn_blocking(search))
            }
        };
        let outcome = running.await;
        self.running = None;
        let (reader, result) = outcome.map_err(|e| {
            // The reader's position is lost with it, and starting over would repeat records.
            self.done = true;
            io::Error::other(e)
        })?;
        self.reader = reader;
        result
    }
}

/// How much of the journal is known to consist of whole records: all of it, once the run has ended.
fn whole_bytes(progress: &Progress) -> u64 {
    if progress.exit.is_some() { u64::MAX } else { progress.len }
}

fn do_job(
    dir: &Path,
    view: View,
    reader: Option<Reader>,
    job: Job,
    whole_bytes: u64,
) -> (Option<Reader>, io::Result<JobResult>) {
    let mut reader = match reader.map_or_else(|| Reader::open(dir, view), Ok) {
        Ok(reader) => reader,
        Err(e) => return (None, Err(e)),
    };
    reader.trust(whole_bytes);
    let result = match job {
        Job::Read => {
            let mut batch = Vec::new();
            reader.read(BATCH_BYTES, &mut batch).map(|()| JobResult::Read(batch))
        }
        Job::Skip(n) => reader.skip_outputs(n).map(JobResult::Skipped),
        Job::SkipToLast(n) => skip_to_last(dir, &mut reader, n, whole_bytes).map(JobResult::Skipped),
    };
    (Some(reader), result)
}

/// Counts with a second reader first: this reads twice, but keeps no record in memory.
fn skip_to_last(dir: &Path, reader: &mut Reader, n: u64, whole_bytes: u64) -> io::Result<u64> {
    let mut counter = Reader::open(dir, View::Exact)?;
    counter.trust(whole_bytes);
    let count = counter.skip_outputs(u64::MAX)?;
    reader.skip_outputs(count.saturating_sub(n))
}

#[cfg(test)]
mod tests {
    use super::super::{Writer, seal};
    use super::*;

    async fn last(dir: &Path, n: u64) -> (u64, Vec<u8>) {
        let mut tail = Tail::new(dir, View::Exact, None);
        let skipped = tail.skip_to_last(n).await.expect("skip");
        let mut numbers = Vec::new();
        while let Some(batch) = tail.next().await.expect("read") {
            numbers
                .extend(batch.iter().filter(|record| record.kind.is_output()).map(|record| record.bytes[0]));
        }
        (skipped, numbers)
    }

    #[tokio::test]
    async fn the_last_outputs_keep_their_numbers_plain_and_sealed() {
        let dir = tempfile::tempdir().expect("dir");
        assert_eq!(last(dir.path(), 2).await, (0, vec![]), "a journal that is not there yet");
        let mut writer = Writer::create(dir.path()).expect("create");
        for number in 0..5_u8 {
            writer.append(Kind::Stdin, 1, b"not numbered").expect("append");
            writer.append(Kind::Stdout, 1, &vec![number; 30_000]).expect("append");
        }
        writer.append(Kind::End, 1, b"{}").expect("append");
        for is_sealed in [false, true] {
            if is_sealed {
                seal(dir.path()).await.expect("seal");
                assert!(!dir.path().join("journal").exists(), "it is sealed");
            }
            assert_eq!(last(dir.path(), 2).await, (3, vec![3, 4]));
            assert_eq!(last(dir.path(), 5).await, (0, vec![0, 1, 2, 3, 4]));
            assert_eq!(last(dir.path(), 9).await, (0, vec![0, 1, 2, 3, 4]));
        }
    }
}
