//! Bytes of a journal that are not a record.
//!
//! Owns: how reading continues behind them, and the note about them. Invariant: reading continues at the first
//! whole record with a correct checksum; the search costs a fixed number of checks for each damaged byte, whatever
//! the bytes are. A damaged record that itself contained a copy of a journal yields that copy's records: they
//! cannot be distinguished.

use super::{HEADER_BYTES, Kind, MAX_PAYLOAD_BYTES, Record, is_plausible};

/// How many bytes the search may checksum for each skipped byte, and at once.
const SUMS_PER_BYTE: u64 = 64;
const SUMS_AT_ONCE: u64 = 2 * (HEADER_BYTES + MAX_PAYLOAD_BYTES) as u64;

pub(super) struct Damage {
    at: u64,
    /// Where the damaged record would have ended, by its own length field.
    claimed_end: u64,
    summed_bytes: u64,
}

impl Damage {
    pub(super) fn begin(at: u64, claimed_end: u64) -> Damage {
        Damage { at, claimed_end, summed_bytes: 0 }
    }

    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// Whether the search may checksum a possible record of this length at `position`.
    pub(super) fn afford(&mut self, position: u64, record_bytes: usize) -> bool {
        let limit = (position - self.at).saturating_mul(SUMS_PER_BYTE).saturating_add(SUMS_AT_ONCE);
        let affordable = self.summed_bytes <= limit;
        if affordable {
            self.summed_bytes += record_bytes as u64;
        }
        affordable
    }

    /// Whether it is only the last record, cut off by the end of the file.
    pub(super) fn is_torn_tail(&self, end: u64) -> bool {
        self.claimed_end > end
    }

    /// The note in place of everything up to `end`.
    pub(super) fn note(&self, end: u64, at_ms: i64) -> Record {
        let (bytes, verb) = match end - self.at {
            1 => ("1 byte".to_owned(), "is damaged at byte"),
            bytes => (format!("{} bytes", with_separators(bytes)), "are damaged at byte"),
        };
        let was = if end - self.at == 1 { "was" } else { "were" };
        note(at_ms, format!("{bytes} of this log {verb} {} and {was} skipped\n", with_separators(self.at)))
    }
}

/// The note when nothing after byte `at` can be read.
pub(super) fn note_of_rest(at: u64, at_ms: i64) -> Record {
    note(
        at_ms,
        format!("this log is damaged at byte {}; what followed cannot be read\n", with_separators(at)),
    )
}

fn note(at_ms: i64, text: String) -> Record {
    Record { kind: Kind::Note, at_ms, bytes: text.into_bytes() }
}

/// How many bytes to skip, at least one, to the next possible record.
pub(super) fn next_candidate(bytes: &[u8]) -> usize {
    let heads = bytes.windows(HEADER_BYTES).enumerate().skip(1);
    let undecided = (bytes.len() + 1).saturating_sub(HEADER_BYTES).max(1);
    heads.filter_map(|(at, head)| is_plausible(head).then_some(at)).next().unwrap_or(undecided)
}

/// A number with thousands separators.
fn with_separators(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::{FILE, Reader, View, Writer, encode, seal};
    use super::*;
    use std::fs;
    use std::path::Path;

    use proptest::prelude::*;

    fn any_records() -> impl Strategy<Value = Vec<Record>> {
        let kind = proptest::sample::select(vec![Kind::Stdout, Kind::Stderr, Kind::Stdin, Kind::Note]);
        let bytes = proptest::collection::vec(any::<u8>(), 0..300);
        let record = (kind, 0i64..1 << 40, bytes);
        let record = record.prop_map(|(kind, at_ms, bytes)| Record { kind, at_ms, bytes });
        proptest::collection::vec(record, 1..20)
    }

    fn encoded(records: &[Record]) -> Vec<u8> {
        let mut bytes = Vec::new();
        records.iter().for_each(|record| encode(record.kind, record.at_ms, &record.bytes, &mut bytes));
        bytes
    }

    fn read_all(reader: &mut Reader, max_bytes: usize) -> Vec<Record> {
        let mut records = Vec::new();
        loop {
            let before = records.len();
            reader.read(max_bytes, &mut records).expect("read");
            if records.len() == before {
                return records;
            }
        }
    }

    fn read_bytes(bytes: &[u8], max_bytes: usize) -> Vec<Record> {
        let dir = tempfile::tempdir().expect("dir");
        fs::write(dir.path().join(FILE), bytes).expect("journal");
        let records = read_all(&mut Reader::open(dir.path(), View::Exact).expect("open"), max_bytes);
        let outputs = records.iter().filter(|record| record.kind.is_output()).count() as u64;
        let skipped =
            Reader::open(dir.path(), View::Exact).expect("open").skip_outputs(u64::MAX).expect("skip");
        assert_eq!(skipped, outputs, "skipping counts like reading");
        records
    }

    fn is_damage(record: &Record) -> bool {
        record.kind == Kind::Note && String::from_utf8_lossy(&record.bytes).contains("of this log")
    }

    /// The records without a byte in `touched`.
    fn untouched(records: &[Record], touched: std::ops::Range<usize>) -> Vec<Record> {
        let mut end = 0;
        let whole = records.iter().filter(|record| {
            let start = end;
            end += HEADER_BYTES + record.bytes.len();
            end <= touched.start || start >= touched.end
        });
        whole.cloned().collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn a_flipped_bit_costs_only_its_record(
            records in any_records(),
            place in any::<prop::sample::Index>(),
            bit in 0u8..8,
            max_bytes in 1usize..2000,
        ) {
            let mut bytes = encoded(&records);
            let at = place.index(bytes.len());
            bytes[at] ^= 1 << bit;
            let read = read_bytes(&bytes, max_bytes);
            let (notes, rest): (Vec<_>, Vec<_>) = read.into_iter().partition(is_damage);
            let wanted = untouched(&records, at..at + 1);
            let is_last = wanted[..] == records[..records.len() - 1];
            prop_assert_eq!(rest, wanted);
            prop_assert!(notes.len() == 1 || notes.is_empty() && is_last, "{} notes", notes.len());
        }

        #[test]
        fn a_region_that_is_cut_out_costs_only_the_records_it_touches(
            records in any_records(),
            from in any::<prop::sample::Index>(),
            cut_bytes in 1usize..700,
        ) {
            let mut bytes = encoded(&records);
            let from = from.index(bytes.len());
            let to = (from + cut_bytes).min(bytes.len());
            bytes.drain(from..to);
            let rest: Vec<_> = read_bytes(&bytes, 1 << 20).into_iter().filter(|record| !is_damage(record)).collect();
            let wanted = untouched(&records, from..to);
            // The bytes after the cut may by chance equal the end that was cut off a record.
            let mut read = rest.iter();
            prop_assert!(wanted.iter().all(|record| read.any(|found| found == record)), "{:?}", rest);
            prop_assert!(rest.len() <= wanted.len() + 1 && rest.iter().all(|record| records.contains(record)));
        }

        #[test]
        fn overwritten_bytes_cost_only_the_records_they_touch(
            records in any_records(),
            from in any::<prop::sample::Index>(),
            garbage in proptest::collection::vec(any::<u8>(), 1..700),
        ) {
            let mut bytes = encoded(&records);
            let from = from.index(bytes.len());
            let to = (from + garbage.len()).min(bytes.len());
            // Garbage that happens to equal the original bytes damages nothing.
            let differs = |at: &usize| bytes[*at] != garbage[*at - from];
            let changed = (from..to).find(differs).zip((from..to).rfind(differs));
            prop_assume!(changed.is_some());
            let (first, last) = changed.unwrap_or_default();
            bytes[from..to].copy_from_slice(&garbage[..to - from]);
            let rest: Vec<_> = read_bytes(&bytes, 1 << 20).into_iter().filter(|record| !is_damage(record)).collect();
            let wanted = untouched(&records, first..last + 1);
            let mut read = rest.iter();
            prop_assert!(wanted.iter().all(|record| read.any(|found| found == record)), "{:?}", rest);
            prop_assert!(rest.iter().all(|record| records.contains(record)));
        }

        /// The journal grows by pieces that are not whole records, and its reader learns only of whole ones.
        #[test]
        fn whoever_follows_a_damaged_journal_reads_what_a_later_reader_reads(
            records in any_records(),
            place in any::<prop::sample::Index>(),
            piece in 1usize..200,
        ) {
            let mut bytes = encoded(&records);
            let ends: Vec<usize> = records.iter().scan(0, |end, record| {
                *end += HEADER_BYTES + record.bytes.len();
                Some(*end)
            }).collect();
            let at = place.index(bytes.len());
            bytes[at] ^= 0x20;
            let dir = tempfile::tempdir().expect("dir");
            let path = dir.path().join(FILE);
            fs::write(&path, b"").expect("journal");
            let mut reader = Reader::open(dir.path(), View::Exact).expect("open");
            let mut live = Vec::new();
            for written in (0..bytes.len()).step_by(piece) {
                fs::write(&path, &bytes[..written]).expect("grow");
                reader.trust(ends.iter().rev().find(|end| **end <= written).map_or(0, |end| *end as u64));
                live.extend(read_all(&mut reader, 500));
                let whole = ends.iter().take_while(|end| **end <= written).count();
                let read = live.iter().filter(|record| !is_damage(record)).count();
                prop_assert!(read + 1 >= whole, "{read} of {whole} records: damage stalls the reader");
            }
            fs::write(&path, &bytes).expect("grow");
            reader.trust(u64::MAX);
            live.extend(read_all(&mut reader, 500));
            prop_assert_eq!(live, read_bytes(&bytes, 1 << 20));
        }
    }

    #[test]
    fn the_note_says_where_and_how_much() {
        let text = |number: u64| Record { kind: Kind::Stdout, at_ms: 7, bytes: vec![b'x'; number as usize] };
        let mut bytes = encoded(&[text(18_217), text(1_188), text(5)]);
        bytes[18_300] ^= 1;
        let read = read_bytes(&bytes, 1 << 20);
        let note = "1,204 bytes of this log are damaged at byte 18,233 and were skipped\n";
        assert_eq!(read, [text(18_217), Record { kind: Kind::Note, at_ms: 7, bytes: note.into() }, text(5)]);
    }

    #[test]
    fn a_record_that_may_still_be_written_is_waited_for_even_when_it_contains_a_journal() {
        let dir = tempfile::tempdir().expect("dir");
        let inner = Record { kind: Kind::Stdout, at_ms: 1, bytes: b"a record in a record".to_vec() };
        let outer = Record {
            bytes: [encoded(&[inner]), b"and more".to_vec()].concat(),
            kind: Kind::Stdout,
            at_ms: 2,
        };
        let bytes = encoded(std::slice::from_ref(&outer));
        let mut reader = Reader::open(dir.path(), View::Exact).expect("open");
        reader.trust(0);
        fs::write(dir.path().join(FILE), &bytes[..bytes.len() - 4]).expect("half");
        assert_eq!(read_all(&mut reader, 1 << 20), []);
        fs::write(dir.path().join(FILE), &bytes).expect("whole");
        assert_eq!(read_all(&mut reader, 1 << 20), [outer]);
    }

    #[test]
    fn a_large_damaged_region_is_skipped_at_once() {
        // Every fourth byte begins a possible record of 64 KiB, the most expensive case to check.
        let dear = [0x00, 0x00, 0x01, 0x00].repeat(16 << 10);
        let mut damage = Damage::begin(0, 0);
        let mut at = 0;
        while at + HEADER_BYTES < dear.len() {
            at += next_candidate(&dear[at..]);
            damage.afford(at as u64, HEADER_BYTES + MAX_PAYLOAD_BYTES);
        }
        assert!(damage.summed_bytes <= 65 * dear.len() as u64 + SUMS_AT_ONCE, "{}", damage.summed_bytes);
        let last = Record { kind: Kind::Stdout, at_ms: 1, bytes: b"after".to_vec() };
        let read = read_bytes(
            &[vec![0; 3 << 20], dear, vec![0; 4096], encoded(std::slice::from_ref(&last))].concat(),
            1 << 20,
        );
        assert_eq!((read.len(), read.last()), (2, Some(&last)));
    }

    fn sealed(dir: &Path, lines: u32) {
        let mut writer = Writer::create(dir).expect("create");
        for number in 0..lines {
            let text = format!("line {number} {:x}\n", u64::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15));
            writer.append(Kind::Stdout, 1, text.as_bytes()).expect("append");
        }
        writer.append(Kind::End, 1, b"{}").expect("append");
    }

    #[tokio::test]
    async fn sealing_a_damaged_journal_keeps_its_notes() {
        let dir = tempfile::tempdir().expect("dir");
        sealed(dir.path(), 10_000);
        let path = dir.path().join(FILE);
        let mut bytes = fs::read(&path).expect("journal");
        bytes[200_000] ^= 4;
        fs::write(&path, bytes).expect("flip");
        let before = read_all(&mut Reader::open(dir.path(), View::Exact).expect("open"), 1 << 20);
        assert_eq!(before.iter().filter(|record| is_damage(record)).count(), 1);
        seal(dir.path()).await.expect("seal");
        assert!(!path.exists(), "it is sealed");
        assert_eq!(read_all(&mut Reader::open(dir.path(), View::Exact).expect("open"), 1 << 20), before);
    }

    #[tokio::test]
    async fn a_damaged_sealed_journal_gives_what_can_be_read_and_a_note() {
        let dir = tempfile::tempdir().expect("dir");
        sealed(dir.path(), 40_000);
        let whole = read_all(&mut Reader::open(dir.path(), View::Exact).expect("open"), 1 << 20);
        seal(dir.path()).await.expect("seal");
        let path = dir.path().join(super::super::SEALED_FILE);
        let packed = fs::read(&path).expect("sealed");
        for (name, damaged) in [
            ("cut", packed[..packed.len() / 2].to_vec()),
            ("flipped", {
                let mut packed = packed.clone();
                let middle = packed.len() / 2;
                packed[middle..middle + 64].iter_mut().for_each(|byte| *byte ^= 0xA5);
                packed
            }),
            ("no frame", vec![7; 100]),
        ] {
            fs::write(&path, damaged).expect("damage");
            let read = read_all(&mut Reader::open(dir.path(), View::Exact).expect("open"), 1 << 20);
            let first = read.iter().zip(&whole).take_while(|(read, whole)| read == whole).count();
            assert!(first > whole.len() / 4 || name == "no frame", "{name}: only {first} records");
            let note = String::from_utf8_lossy(&read[first].bytes).into_owned();
            assert!(read[first].kind == Kind::Note && note.contains("damaged at byte"), "{name}: {note}");
        }
    }
}
