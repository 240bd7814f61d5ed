//! Objects that git keeps in separate files.
//!
//! Owns: reading such a file without starting git, which maps each of them into memory and is slow at it. Invariant:
//! only an object that is fully understood is returned. An object in a pack or in another repository's store, and a
//! file with unexpected content, are left to git.

use std::io::Read;
use std::path::Path;

use flate2::read::ZlibDecoder;

/// Longest header: a kind, a size of 20 digits and what separates them.
const HEAD_MAX_BYTES: usize = 32;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Loose {
    Contents(Vec<u8>),
    TooLarge,
}

/// The file with the name `oid` below `objects`, when it exists.
pub(crate) fn read(objects: &Path, oid: &str, max_bytes: u64) -> Option<Loose> {
    if oid.len() < 40 || !oid.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let file = std::fs::File::open(objects.join(&oid[..2]).join(&oid[2..])).ok()?;
    decode(file, max_bytes)
}

fn decode(file: impl Read, max_bytes: u64) -> Option<Loose> {
    let limit = max_bytes + HEAD_MAX_BYTES as u64;
    let mut bytes = Vec::new();
    let mut decoder = ZlibDecoder::new(file);
    (&mut decoder).take(limit).read_to_end(&mut bytes).ok()?;
    let head_length = bytes.iter().take(HEAD_MAX_BYTES).position(|byte| *byte == 0)? + 1;
    let head = std::str::from_utf8(&bytes[..head_length - 1]).ok()?;
    let (_, size) = head.split_once(' ')?;
    let size: u64 = size.parse().ok()?;
    if size > max_bytes {
        return Some(Loose::TooLarge);
    }
    bytes.drain(..head_length);
    (bytes.len() as u64 == size).then_some(Loose::Contents(bytes))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;

    use super::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn an_object_is_read_whole_or_left_to_git() {
        let read = |bytes: &[u8], max_bytes| decode(bytes, max_bytes);
        let contents = |text: &[u8]| Some(Loose::Contents(text.to_vec()));
        let object = packed(b"blob 5\0hello");
        assert_eq!(read(&object, 5), contents(b"hello"));
        assert_eq!(read(&object, 4), Some(Loose::TooLarge));
        assert_eq!(read(&packed(b"blob 0\0"), 0), contents(b""));
        assert_eq!(read(&object[..object.len() - 6], 5), None, "a file that was cut off");
        assert_eq!(read(&packed(b"blob 6\0hello"), 9), None, "a size that is not true");
        assert_eq!(read(&packed(b"no header at all, and a long text after it"), 99), None);
        assert_eq!(read(b"not compressed", 99), None);
    }

    #[test]
    fn a_name_that_is_no_object_id_is_no_path() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["", "-", "../../../../etc/passwd", &format!("..{}", "/".repeat(40))] {
            assert_eq!(super::read(dir.path(), name, 99), None, "{name}");
        }
    }
}
