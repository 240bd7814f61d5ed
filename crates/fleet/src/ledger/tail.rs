//! Reads what was added to a file since the last time.
//!
//! Invariants: a position belongs to a file, not to a path, so a log that was moved aside is read to its end; a file
//! that starts differently, or is shorter than what was read, is another one and read from its beginning.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use forge_os::file::FileError;
use forge_types::Millis;
use serde::{Deserialize, Serialize};

use super::{Figure, Reader};

/// Bytes read at once. A longer line is of no interest.
const BLOCK: usize = 4 << 20;
/// Bytes of a file's beginning that identify it.
const HEAD: usize = 256;

/// Which file it is, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    pub device: u64,
    pub inode: u64,
}

/// How far a file was read, and what its reader knows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Place {
    pub offset: u64,
    /// The beginning of the file.
    head: String,
    reader: Reader,
}

/// What was read at once.
#[derive(Debug)]
pub struct Block {
    pub figures: Vec<Figure>,
    pub place: Place,
    /// When the file was written last.
    pub written_at: Millis,
    /// There is more to read.
    pub more: bool,
}

fn open(path: &Path) -> Result<File, FileError> {
    forge_os::file::open(path.parent().unwrap_or(path), path)
}

/// `None` when there is no such file.
pub fn identify(path: &Path) -> io::Result<Option<Identity>> {
    let about = match open(path) {
        Ok(file) => file.metadata()?,
        Err(FileError::Io { source, .. }) => return Err(source),
        Err(_) => return Ok(None),
    };
    Ok(Some(Identity { device: about.dev(), inode: about.ino() }))
}

/// Reads on from a position. `None` if there is nothing new, or the file is no longer the same one.
pub fn read(path: &Path, identity: Identity, place: &Place) -> io::Result<Option<Block>> {
    let mut file = open(path)?;
    let about = file.metadata()?;
    if (about.dev(), about.ino()) != (identity.device, identity.inode) {
        return Ok(None);
    }
    let mut head = [0; HEAD];
    let length = fill(&mut file, &mut head)?;
    let mut place = place.clone();
    let known = place.head.len() / 2;
    if about.len() < place.offset || length < known || hex(&head[..known]) != place.head {
        place = Place::default();
    }
    file.seek(SeekFrom::Start(place.offset))?;
    let mut block = Vec::new();
    file.take(BLOCK as u64).read_to_end(&mut block)?;
    let whole = match block.iter().rposition(|byte| *byte == b'\n') {
        Some(end) => end + 1,
        None if block.len() == BLOCK => BLOCK,
        None => return Ok(None),
    };
    let mut found = Vec::new();
    for line in block[..whole].split(|byte| *byte == b'\n') {
        found.extend(place.reader.read(&String::from_utf8_lossy(line)));
    }
    place.offset += whole as u64;
    let first = usize::try_from(place.offset).unwrap_or(HEAD).min(length);
    place.head = hex(&head[..first]);
    let written_at = Millis(about.mtime() * 1000 + about.mtime_nsec() / 1_000_000);
    Ok(Some(Block { figures: found, place, written_at, more: block.len() == BLOCK }))
}

fn fill(file: &mut File, head: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < head.len() {
        match file.read(&mut head[length..])? {
            0 => break,
            more => length += more,
        }
    }
    Ok(length)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn line(n: u32) -> String {
        let usage = format!(r#"{{"input_tokens":{n}}}"#);
        format!(
            r#"{{"type":"assistant","session_id":"s","message":{{"id":"m{n}","model":"o","usage":{usage}}}}}"#
        )
    }

    /// The tokens that are new, and the place after them.
    fn next(path: &Path, place: &Place) -> (Vec<i64>, Place) {
        let identity = identify(path).unwrap().unwrap();
        match read(path, identity, place).unwrap() {
            None => (Vec::new(), place.clone()),
            Some(block) => {
                let tokens = |found: &Figure| match found {
                    Figure::Call(call) => call.usage.input_tokens,
                    other => panic!("{other:?}"),
                };
                (block.figures.iter().map(tokens).collect(), block.place)
            }
        }
    }

    #[test]
    fn half_a_line_is_left_for_the_next_time() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let half = line(2);
        let (first, second) = half.split_at(half.len() / 2);
        std::fs::write(&path, format!("plain words\n{}\n{first}", line(1))).unwrap();
        let (tokens, place) = next(&path, &Place::default());
        assert_eq!(tokens, [1]);
        assert_eq!(next(&path, &place), (vec![], place.clone()), "nothing is new");
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        writeln!(file, "{second}").unwrap();
        let (tokens, place) = next(&path, &place);
        assert_eq!((tokens, place.offset), (vec![2], std::fs::metadata(&path).unwrap().len()));
    }

    #[test]
    fn a_file_that_was_written_anew_is_read_from_its_beginning() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        std::fs::write(&path, format!("{}\n{}\n", line(1), line(2))).unwrap();
        let (_, place) = next(&path, &Place::default());
        std::fs::write(&path, format!("{}\n", line(3))).unwrap();
        assert_eq!(next(&path, &place).0, [3], "it is shorter");
        std::fs::write(&path, format!("{}\n{}\n{}\n", line(4), line(5), line(6))).unwrap();
        assert_eq!(next(&path, &place).0, [4, 5, 6], "it is longer, and begins in another way");
    }

    #[test]
    fn a_long_file_is_read_in_blocks_and_no_line_is_lost() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let pad = "x".repeat(1 << 20);
        let text: String = (1..=6).map(|n| format!("{}\n{pad}\n", line(n))).collect();
        std::fs::write(&path, text).unwrap();
        let (mut place, mut all) = (Place::default(), Vec::new());
        loop {
            let (tokens, after) = next(&path, &place);
            if after == place {
                break;
            }
            all.extend(tokens);
            place = after;
        }
        assert_eq!(all, [1, 2, 3, 4, 5, 6]);
        assert_eq!(place.offset, std::fs::metadata(&path).unwrap().len());
    }
}
