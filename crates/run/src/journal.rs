//! The journal of a run: every byte its agent printed and received, in order, with the time.
//!
//! Owns: the record format. A record is `len: u32, crc32: u32, stamp: u64` (little endian) and `len` bytes of
//! payload; the top byte of the stamp is the kind, the rest the time in milliseconds; the checksum covers stamp and
//! payload. Invariant: the file only grows, one write per record, so reading stops cleanly at a torn tail and a
//! record's number never changes; damage before that is skipped, and a note in its place says so. Outputs (stdout,
//! stderr and notes) are numbered from 0: that is the raw log's entry number.

mod adopt;
mod chunk;
mod damage;
mod reader;
mod seal;
mod tail;
mod writer;

pub use adopt::{Adoption, adopted_worktree};
pub(crate) use chunk::{cut, unfinished};
pub use reader::{Reader, View};
pub use seal::seal;
pub use tail::Tail;
pub(crate) use writer::Writer;

const FILE: &str = "journal";
const SEALED_FILE: &str = "journal.zst";
const HEADER_BYTES: usize = 16;
const MAX_PAYLOAD_BYTES: usize = 64 * 1024;
const TIME_BITS: u32 = 56;

/// The kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Stdout,
    Stderr,
    /// What the keeper wrote to the agent.
    Stdin,
    /// A remark of Forge itself, shown as stderr text.
    Note,
    /// The [`crate::Exit`] as JSON; always the last record.
    End,
}

impl Kind {
    /// Whether the record has a number in the raw log.
    pub fn is_output(self) -> bool {
        matches!(self, Kind::Stdout | Kind::Stderr | Kind::Note)
    }

    fn code(self) -> u8 {
        match self {
            Kind::Stdout => 1,
            Kind::Stderr => 2,
            Kind::Stdin => 3,
            Kind::Note => 4,
            Kind::End => 5,
        }
    }

    fn of_code(code: u8) -> Option<Kind> {
        [Kind::Stdout, Kind::Stderr, Kind::Stdin, Kind::Note, Kind::End]
            .into_iter()
            .find(|k| k.code() == code)
    }
}

/// One event of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub kind: Kind,
    pub at_ms: i64,
    pub bytes: Vec<u8>,
}

/// A header whose kind and length are plausible.
#[derive(Clone, Copy)]
struct Header {
    kind: Kind,
    at_ms: i64,
    crc: u32,
    payload_bytes: usize,
}

impl Header {
    fn record_bytes(self) -> usize {
        HEADER_BYTES + self.payload_bytes
    }
}

/// What the given bytes begin with.
enum Front {
    Whole(Header),
    /// More bytes may complete it; this many are needed in total.
    Short {
        needed_bytes: usize,
    },
    /// Not a record, whatever follows.
    Broken,
}

fn parse_front(bytes: &[u8]) -> Front {
    let Some((head, rest)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
        return Front::Short { needed_bytes: HEADER_BYTES };
    };
    let [l0, l1, l2, l3, c0, c1, c2, c3, stamp @ ..] = *head;
    let payload_bytes = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
    let stamp = u64::from_le_bytes(stamp);
    let Some(kind) = Kind::of_code((stamp >> TIME_BITS) as u8) else { return Front::Broken };
    if payload_bytes > MAX_PAYLOAD_BYTES {
        return Front::Broken;
    }
    if rest.len() < payload_bytes {
        return Front::Short { needed_bytes: HEADER_BYTES + payload_bytes };
    }
    let at_ms = (stamp & ((1 << TIME_BITS) - 1)) as i64;
    Front::Whole(Header { kind, at_ms, crc: u32::from_le_bytes([c0, c1, c2, c3]), payload_bytes })
}

/// A quick check whether this may be a header.
fn is_plausible(head: &[u8]) -> bool {
    matches!(*head, [_, _, 0..=1, 0, .., code] if Kind::of_code(code).is_some())
}

fn encode(kind: Kind, at_ms: i64, payload: &[u8], out: &mut Vec<u8>) {
    debug_assert!(payload.len() <= MAX_PAYLOAD_BYTES, "a payload of {} bytes", payload.len());
    let time = at_ms.max(0) as u64 & ((1 << TIME_BITS) - 1);
    let stamp = (u64::from(kind.code()) << TIME_BITS | time).to_le_bytes();
    out.extend_from_slice(&(payload.len() as u32).to_le_bytes());
    out.extend_from_slice(&checksum(&stamp, payload).to_le_bytes());
    out.extend_from_slice(&stamp);
    out.extend_from_slice(payload);
}

fn checksum(stamp: &[u8], payload: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(stamp);
    sum.update(payload);
    sum.finalize()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;

    fn any_kind() -> impl Strategy<Value = Kind> {
        proptest::sample::select(vec![Kind::Stdout, Kind::Stderr, Kind::Stdin, Kind::Note])
    }

    fn any_records() -> impl Strategy<Value = Vec<Record>> {
        let bytes = proptest::collection::vec(any::<u8>(), 0..300);
        let record =
            (any_kind(), 0i64..1 << 50, bytes).prop_map(|(kind, at_ms, bytes)| Record { kind, at_ms, bytes });
        proptest::collection::vec(record, 0..20)
    }

    fn write(dir: &Path, records: &[Record]) {
        let mut writer = Writer::create(dir).expect("create");
        for record in records {
            writer.append(record.kind, record.at_ms, &record.bytes).expect("append");
        }
        assert_eq!(writer.len(), fs::metadata(dir.join(FILE)).expect("journal").len());
    }

    fn read_all(dir: &Path, max_bytes: usize) -> Vec<Record> {
        let mut reader = Reader::open(dir, View::Exact).expect("open");
        let mut records = Vec::new();
        loop {
            let before = records.len();
            reader.read(max_bytes, &mut records).expect("read");
            if records.len() == before {
                return records;
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn what_is_written_is_read(records in any_records(), max_bytes in 1usize..2000) {
            let dir = tempfile::tempdir().expect("dir");
            write(dir.path(), &records);
            prop_assert_eq!(read_all(dir.path(), max_bytes), records);
        }

        #[test]
        fn a_torn_tail_costs_only_the_torn_record(records in any_records(), torn in 1usize..400) {
            let dir = tempfile::tempdir().expect("dir");
            write(dir.path(), &records);
            let bytes = fs::read(dir.path().join(FILE)).expect("journal");
            let kept = bytes.len().saturating_sub(torn);
            fs::write(dir.path().join(FILE), &bytes[..kept]).expect("tear");
            let mut size = 0;
            let whole = records.iter().take_while(|record| {
                size += HEADER_BYTES + record.bytes.len();
                size <= kept
            });
            prop_assert_eq!(read_all(dir.path(), 1 << 20), whole.cloned().collect::<Vec<_>>());
        }

        #[test]
        fn skipping_outputs_counts_only_outputs(records in any_records(), n in 0u64..25) {
            let dir = tempfile::tempdir().expect("dir");
            write(dir.path(), &records);
            let outputs = records.iter().filter(|record| record.kind.is_output()).count() as u64;
            let mut reader = Reader::open(dir.path(), View::Exact).expect("open");
            prop_assert_eq!(reader.skip_outputs(n).expect("skip"), n.min(outputs));
            let mut rest = Vec::new();
            reader.read(1 << 20, &mut rest).expect("read");
            let left = rest.iter().filter(|record| record.kind.is_output()).count() as u64;
            prop_assert_eq!(left, outputs.saturating_sub(n));
        }
    }

    #[test]
    fn a_reader_at_the_end_continues_when_more_is_written() {
        let dir = tempfile::tempdir().expect("dir");
        let mut reader = Reader::open(dir.path(), View::Exact).expect("a missing journal is empty");
        let mut records = Vec::new();
        reader.read(100, &mut records).expect("read");
        assert!(records.is_empty());
        let mut writer = Writer::create(dir.path()).expect("create");
        for text in ["one", "two"] {
            writer.append(Kind::Stdout, 1, text.as_bytes()).expect("append");
            reader.read(100, &mut records).expect("read");
            assert_eq!(records.pop().expect("a record").bytes, text.as_bytes());
        }
    }

    #[test]
    fn a_long_payload_becomes_several_records() {
        let dir = tempfile::tempdir().expect("dir");
        let text = "é".repeat(100_000);
        write(dir.path(), &[Record { kind: Kind::Stdin, at_ms: 1, bytes: text.clone().into_bytes() }]);
        let records = read_all(dir.path(), 1 << 20);
        assert_eq!(records.len(), 4);
        assert!(records.iter().all(|record| std::str::from_utf8(&record.bytes).is_ok()));
        assert_eq!(
            records.iter().flat_map(|record| record.bytes.clone()).collect::<Vec<_>>(),
            text.as_bytes()
        );
    }

    #[test]
    fn a_journal_is_never_written_over() {
        let dir = tempfile::tempdir().expect("dir");
        write(dir.path(), &[]);
        assert!(Writer::create(dir.path()).is_err());
    }
}
