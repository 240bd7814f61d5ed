//! The reading end of a journal, plain or sealed, growing or finished.
//!
//! Invariant: only whole records with a right checksum come out, in file order; at a torn or still short tail reading
//! stops without an error and goes on from there once more has been written. Memory: one buffer of about two records.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use super::{FILE, Front, HEADER_BYTES, Header, MAX_PAYLOAD_BYTES, Record, SEALED_FILE, checksum, look};

const FILL_BYTES: usize = MAX_PAYLOAD_BYTES + HEADER_BYTES;

pub struct Reader {
    dir: PathBuf,
    source: Source,
    /// Read but not yet handed out: `buffer[start..]`.
    buffer: Vec<u8>,
    start: usize,
    position: u64,
}

enum Source {
    Missing,
    Plain(File),
    Sealed(Box<zstd::Decoder<'static, BufReader<File>>>),
}

impl Reader {
    /// Opens the journal of a run directory. A journal that does not exist (yet) is empty.
    pub fn open(dir: &Path) -> io::Result<Reader> {
        let source = open_source(dir)?;
        Ok(Reader { dir: dir.to_owned(), source, buffer: Vec::new(), start: 0, position: 0 })
    }

    /// Adds whole records to `out`, at least one if there is one and else no more than `max_bytes` of payload.
    pub fn read(&mut self, max_bytes: usize, out: &mut Vec<Record>) -> io::Result<()> {
        let mut taken = 0;
        while let Some(header) = self.front()? {
            if taken > 0 && taken + header.payload_bytes > max_bytes {
                return Ok(());
            }
            let bytes = &self.buffer[self.start..self.start + header.record_bytes()];
            let (head, payload) = bytes.split_at(HEADER_BYTES);
            if checksum(&head[8..], payload) != header.crc {
                return Ok(());
            }
            out.push(Record { kind: header.kind, at_ms: header.at_ms, bytes: payload.to_vec() });
            taken += header.payload_bytes;
            self.consume(header);
        }
        Ok(())
    }

    /// Passes over `n` outputs (and whatever lies between them) without looking at their payload. Answers how many
    /// there were.
    pub fn skip_outputs(&mut self, n: u64) -> io::Result<u64> {
        let mut skipped = 0;
        while skipped < n {
            let Some(header) = self.front()? else { break };
            skipped += u64::from(header.kind.is_output());
            self.consume(header);
        }
        Ok(skipped)
    }

    /// Journal bytes handed out or passed over.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Whether everything that is in the file by now was handed out.
    pub(crate) fn is_at_end(&self) -> bool {
        match &self.source {
            Source::Plain(file) => file.metadata().is_ok_and(|meta| meta.len() <= self.position),
            Source::Missing | Source::Sealed(_) => false,
        }
    }

    /// Whether reading on costs no more than a copy out of the page cache.
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self.source, Source::Plain(_))
    }

    fn front(&mut self) -> io::Result<Option<Header>> {
        loop {
            match look(&self.buffer[self.start..]) {
                Front::Whole(header) => return Ok(Some(header)),
                Front::Broken => return Ok(None),
                Front::Short if self.fill()? == 0 => return Ok(None),
                Front::Short => {}
            }
        }
    }

    fn consume(&mut self, header: Header) {
        self.start += header.record_bytes();
        self.position += header.record_bytes() as u64;
    }

    fn fill(&mut self) -> io::Result<usize> {
        if matches!(self.source, Source::Missing) {
            self.source = open_source(&self.dir)?;
        }
        self.buffer.drain(..self.start);
        self.start = 0;
        let old = self.buffer.len();
        self.buffer.resize(old + FILL_BYTES, 0);
        let outcome = match &mut self.source {
            Source::Missing => Ok(0),
            Source::Plain(file) => read_some(file, &mut self.buffer[old..]),
            Source::Sealed(decoder) => read_some(decoder, &mut self.buffer[old..]),
        };
        self.buffer.truncate(old + *outcome.as_ref().unwrap_or(&0));
        outcome
    }
}

fn read_some(from: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
    loop {
        match from.read(into) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}

fn open_source(dir: &Path) -> io::Result<Source> {
    // Sealing puts the sealed file in place before it removes the plain one, so this order always finds one of them.
    match File::open(dir.join(FILE)) {
        Ok(file) => return Ok(Source::Plain(file)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(e) => return Err(e),
    }
    match File::open(dir.join(SEALED_FILE)) {
        Ok(file) => Ok(Source::Sealed(Box::new(zstd::Decoder::new(file)?))),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Source::Missing),
        Err(e) => Err(e),
    }
}
