//! Writing a journal. Only three writers exist: the keeper, the adoption of another system's log, and the code that
//! records the end of a run whose keeper is gone.
//!
//! Invariant: `len` counts whole records only. When the disk refuses a write, the rest of the record waits here and
//! the journal is *stalled*: the keeper then stops reading from the agent, so nothing is lost and the backlog stays
//! small.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::{FILE, Kind, SEALED_FILE, cut, encode};

pub(crate) struct Writer {
    file: File,
    backlog: Vec<u8>,
    written: u64,
    len: u64,
}

impl Writer {
    /// Refuses a directory that already has a journal: a run never overwrites another.
    pub(crate) fn create(dir: &Path) -> io::Result<Writer> {
        let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(dir.join(FILE))?;
        Ok(Writer { file, backlog: Vec::new(), written: 0, len: 0 })
    }

    /// Continues the journal of a keeper that is gone; `None` if it is sealed, because then its end is known.
    pub(crate) fn append_to(dir: &Path) -> io::Result<Option<Writer>> {
        if dir.join(SEALED_FILE).exists() {
            return Ok(None);
        }
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(dir.join(FILE))?;
        Ok(Some(Writer { file, backlog: Vec::new(), written: 0, len: 0 }))
    }

    /// Adds one record, or several if the payload is too long for one.
    pub(crate) fn append(&mut self, kind: Kind, at_ms: i64, payload: &[u8]) -> io::Result<()> {
        let mut rest = payload;
        let mut outcome = Ok(());
        loop {
            let (first, more) = rest.split_at(cut(rest));
            encode(kind, at_ms, first, &mut self.backlog);
            outcome = outcome.and_then(|()| self.flush());
            rest = more;
            if rest.is_empty() {
                return outcome;
            }
        }
    }

    /// Tries to write what is left of the last record.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        let mut done = 0;
        let outcome = loop {
            if done == self.backlog.len() {
                break Ok(());
            }
            match self.file.write(&self.backlog[done..]) {
                Ok(0) => break Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => done += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => break Err(e),
            }
        };
        self.backlog.drain(..done);
        self.written += done as u64;
        if self.backlog.is_empty() {
            self.len = self.written;
        }
        outcome
    }

    pub(crate) fn is_stalled(&self) -> bool {
        !self.backlog.is_empty()
    }

    /// How far the file consists of whole records. Readers treat anything wrong before that as damage, and wait for
    /// the rest.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}
