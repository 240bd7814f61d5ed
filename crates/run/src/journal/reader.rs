//! Reading a journal, plain or sealed, growing or finished.
//!
//! Invariant: a reader returns only whole records with a correct checksum, in file order, and for each damaged
//! region one note in its place; the result depends on the bytes alone, so all readers count alike. A torn tail
//! ends a finished journal silently; of a growing journal only the part that its keeper has reported as whole is
//! checked, and the rest is waited for. Code that shows records to people opens the masked view, in which the run's
//! secrets are masked. Memory: one buffer of about two records.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use super::damage::{Damage, next_candidate, note_of_rest};
use super::{
    FILE, Front, HEADER_BYTES, Header, Kind, MAX_PAYLOAD_BYTES, Record, SEALED_FILE, checksum, parse_front,
};
use crate::secrets::{Masker, Secrets};

const FILL_BYTES: usize = MAX_PAYLOAD_BYTES + HEADER_BYTES;

/// How records are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// As they were written: for the protocols of agents, which need every byte.
    Exact,
    /// Without the run's secrets: for people.
    Masked,
}

pub struct Reader {
    dir: PathBuf,
    view: View,
    source: Source,
    /// For a masked view of a run that has secrets.
    masker: Option<Masker>,
    /// Read but not yet returned: `buffer[start..]`.
    buffer: Vec<u8>,
    start: usize,
    position: u64,
    /// Up to here the journal is known to consist of whole records.
    whole_bytes: u64,
    /// The damaged region that is being skipped.
    damage: Option<Damage>,
    last_ms: i64,
    /// The End record has been returned.
    ended: bool,
}

enum Source {
    Missing,
    Plain(File),
    Sealed(Box<zstd::Decoder<'static, BufReader<File>>>),
    /// A sealed file that cannot be decompressed any further.
    Unreadable,
}

/// What to return next.
enum Next {
    /// A valid record at the front of the buffer.
    Record(Header),
    Note(Record),
    /// Nothing, for now or at all.
    Nothing,
}

enum FrontRecord {
    Good(Header),
    /// Not a record, or too few bytes for one and no more available.
    Bad(Damage),
}

impl Reader {
    /// Opens the journal of a run directory, which is assumed to be finished. A journal that does not exist (yet)
    /// is empty.
    pub fn open(dir: &Path, view: View) -> io::Result<Reader> {
        let mut reader = Reader {
            dir: dir.to_owned(),
            view,
            source: Source::Missing,
            masker: None,
            buffer: Vec::new(),
            start: 0,
            position: 0,
            whole_bytes: u64::MAX,
            damage: None,
            last_ms: 0,
            ended: false,
        };
        reader.find_source()?;
        Ok(reader)
    }

    fn find_source(&mut self) -> io::Result<()> {
        let source = open_source(&self.dir)?;
        // The secrets of a journal that does not exist yet may not exist either.
        if self.view == View::Masked && !matches!(source, Source::Missing) {
            self.masker = Masker::new(&Secrets::read(&self.dir)?);
        }
        self.source = source;
        Ok(())
    }

    /// Sets how much of a growing journal consists of whole records; `u64::MAX` once it is finished.
    pub(crate) fn trust(&mut self, whole_bytes: u64) {
        self.whole_bytes = whole_bytes;
    }

    /// Adds whole records to `out`: at least one if there is one, and otherwise no more than `max_bytes` of
    /// payload.
    pub fn read(&mut self, max_bytes: usize, out: &mut Vec<Record>) -> io::Result<()> {
        let mut taken = 0;
        loop {
            match self.next()? {
                Next::Record(header) => {
                    if taken > 0 && taken + header.payload_bytes > max_bytes {
                        return Ok(());
                    }
                    let payload = self.start + HEADER_BYTES..self.start + header.record_bytes();
                    let mut bytes = self.buffer[payload].to_vec();
                    if let Some(masker) = &mut self.masker {
                        bytes = masker.mask(header.kind, bytes);
                    }
                    out.push(Record { kind: header.kind, at_ms: header.at_ms, bytes });
                    taken += header.payload_bytes;
                    self.consume(header);
                }
                Next::Note(note) => {
                    taken += note.bytes.len();
                    out.push(note);
                }
                Next::Nothing => return Ok(()),
            }
        }
    }

    /// Skips `n` outputs (and whatever lies between them). Returns how many there were.
    pub fn skip_outputs(&mut self, n: u64) -> io::Result<u64> {
        let mut skipped = 0;
        while skipped < n {
            match self.next()? {
                Next::Record(header) => {
                    skipped += u64::from(header.kind.is_output());
                    if let Some(masker) = &mut self.masker {
                        let payload = self.start + HEADER_BYTES..self.start + header.record_bytes();
                        masker.skip(header.kind, &self.buffer[payload]);
                    }
                    self.consume(header);
                }
                Next::Note(_) => skipped += 1,
                Next::Nothing => break,
            }
        }
        Ok(skipped)
    }

    /// Journal bytes returned or skipped.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Whether everything currently in the file has been returned.
    pub(crate) fn is_at_end(&self) -> bool {
        match &self.source {
            Source::Plain(file) => file.metadata().is_ok_and(|meta| meta.len() <= self.position),
            Source::Missing | Source::Sealed(_) | Source::Unreadable => false,
        }
    }

    /// Whether further reads cost no more than a copy from the page cache.
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self.source, Source::Plain(_))
    }

    fn next(&mut self) -> io::Result<Next> {
        let mut is_drained = false;
        loop {
            let begun = match self.check_front(&mut is_drained)? {
                FrontRecord::Good(header) => {
                    return Ok(match self.damage.take() {
                        Some(damage) => Next::Note(damage.note(self.position, header.at_ms)),
                        None => Next::Record(header),
                    });
                }
                FrontRecord::Bad(begun) if self.position < self.whole_bytes => begun,
                FrontRecord::Bad(_) => return Ok(Next::Nothing),
            };
            if self.buffer.len() == self.start {
                let is_finished = self.whole_bytes == u64::MAX;
                return Ok(if is_finished { self.final_item() } else { Next::Nothing });
            }
            self.damage.get_or_insert(begun);
            self.skip_damaged();
        }
    }

    /// Checks the bytes at the front. Reads more where needed.
    fn check_front(&mut self, is_drained: &mut bool) -> io::Result<FrontRecord> {
        loop {
            let front = parse_front(&self.buffer[self.start..]);
            let at = self.position;
            match front {
                Front::Broken => return Ok(FrontRecord::Bad(Damage::begin(at, at))),
                Front::Whole(header) => {
                    let end = at + header.record_bytes() as u64;
                    let affordable = self.can_afford(header.record_bytes());
                    return Ok(match affordable && self.is_sound(header) {
                        true => FrontRecord::Good(header),
                        false => FrontRecord::Bad(Damage::begin(at, end)),
                    });
                }
                Front::Short { .. } if !*is_drained => *is_drained = self.fill()? == 0,
                Front::Short { needed_bytes } => {
                    // Charged as well, so that a later reader, for whom it is complete, has the same budget left.
                    self.can_afford(needed_bytes);
                    return Ok(FrontRecord::Bad(Damage::begin(at, at + needed_bytes as u64)));
                }
            }
        }
    }

    fn can_afford(&mut self, record_bytes: usize) -> bool {
        let at = self.position;
        self.damage.as_mut().is_none_or(|damage| damage.afford(at, record_bytes))
    }

    fn is_sound(&self, header: Header) -> bool {
        let record = &self.buffer[self.start..self.start + header.record_bytes()];
        checksum(&record[8..HEADER_BYTES], &record[HEADER_BYTES..]) == header.crc
    }

    /// Skips to the next possible record, or to the end of the part that is known to be whole.
    fn skip_damaged(&mut self) {
        let rest = &self.buffer[self.start..];
        let known = usize::try_from(self.whole_bytes - self.position).unwrap_or(usize::MAX);
        let passed = next_candidate(rest).min(known);
        self.start += passed;
        self.position += passed as u64;
    }

    /// What to return after everything readable was read.
    fn final_item(&mut self) -> Next {
        let damage = self.damage.take();
        if matches!(self.source, Source::Unreadable) && !self.ended {
            self.ended = true;
            let at = damage.map_or(self.position, |damage| damage.at());
            return Next::Note(note_of_rest(at, self.last_ms));
        }
        match damage.filter(|damage| !damage.is_torn_tail(self.position)) {
            Some(damage) => Next::Note(damage.note(self.position, self.last_ms)),
            None => Next::Nothing,
        }
    }

    fn consume(&mut self, header: Header) {
        self.start += header.record_bytes();
        self.position += header.record_bytes() as u64;
        self.last_ms = header.at_ms;
        self.ended = header.kind == Kind::End;
    }

    fn fill(&mut self) -> io::Result<usize> {
        if matches!(self.source, Source::Missing) {
            self.find_source()?;
        }
        self.buffer.drain(..self.start);
        self.start = 0;
        let old = self.buffer.len();
        self.buffer.resize(old + FILL_BYTES, 0);
        let outcome = match &mut self.source {
            Source::Missing | Source::Unreadable => Ok(0),
            Source::Plain(file) => read_some(file, &mut self.buffer[old..]),
            Source::Sealed(decoder) => match read_some(decoder, &mut self.buffer[old..]) {
                // The content is damaged, not the disk.
                Err(e) if e.raw_os_error().is_none() => {
                    tracing::warn!(dir = %self.dir.display(), error = %e, "a sealed log is damaged");
                    self.source = Source::Unreadable;
                    Ok(0)
                }
                outcome => outcome,
            },
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
