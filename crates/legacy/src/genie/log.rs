//! Logs of the sessions that Genie ran itself: lines of the agent program, JSON and plain.
//!
//! Invariant: only files below the checkout are read, whatever a store says, and never more of one than a piece at a time.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use forge_os::file::FileError;
use forge_types::{LogSource, OldLine, Voice};
use serde_json::{Map, Value};

/// A longer line is taken in pieces.
const MAX_LINE: u64 = 1 << 20;
const LINES_AT_ONCE: usize = 256;
/// The agent says its id when it begins.
const HEAD_LINES: usize = 200;

/// The first of these files that is there.
pub(super) fn find(top: &Path, names: &[String]) -> Option<PathBuf> {
    let top = std::fs::canonicalize(top).ok()?;
    let real = names.iter().filter_map(|name| std::fs::canonicalize(top.join(name)).ok());
    real.into_iter().find(|path| path.starts_with(&top) && path.is_file())
}

fn open(path: &Path) -> Result<File, FileError> {
    forge_os::file::open(path.parent().unwrap_or(path), path)
}

/// The agent program's own id, as its log has it.
pub(super) fn session_id(path: &Path) -> Option<String> {
    let mut reader = BufReader::new(open(path).ok()?);
    for _ in 0..HEAD_LINES {
        let line = next_line(&mut reader).ok()??;
        let value: Value = serde_json::from_slice(&line).unwrap_or_default();
        if let Some(id) = value.get("session_id").and_then(Value::as_str) {
            return Some(id.to_owned());
        }
    }
    None
}

/// What the store says beyond what Forge has a place for, then the log; `None` when there is neither.
pub(super) fn source(path: Option<PathBuf>, rest: &Map<String, Value>) -> Option<LogSource> {
    let text = format!("Genie's store also says: {}\n", Value::Object(rest.clone()));
    let mut note = (!rest.is_empty()).then(|| vec![OldLine { voice: Voice::Note, at: None, text }]);
    let size = |path: &PathBuf| path.metadata().ok().map(|found| found.len());
    let bytes = path.as_ref().and_then(size).unwrap_or(0);
    if path.is_none() && note.is_none() {
        return None;
    }
    let (mut reading, mut remarked): (Option<BufReader<File>>, bool) = (None, false);
    Some(LogSource::new(bytes, move || {
        if let Some(note) = note.take() {
            return Ok(Some(note));
        }
        let Some(path) = &path else { return Ok(None) };
        let reader = match &mut reading {
            Some(reader) => reader,
            None => reading.insert(BufReader::new(open(path).map_err(|error| error.to_string())?)),
        };
        let mut lines = Vec::new();
        while lines.len() < LINES_AT_ONCE {
            let Some(bytes) = next_line(reader).map_err(|error| error.to_string())? else { break };
            let (text, remark) = OldLine::text_of(&bytes, &mut remarked);
            lines.extend(remark);
            lines.push(OldLine { voice: Voice::Stdout, at: None, text });
        }
        Ok((!lines.is_empty()).then_some(lines))
    }))
}

/// With its end; the last line gets one.
fn next_line(reader: &mut impl BufRead) -> std::io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let count = reader.take(MAX_LINE).read_until(b'\n', &mut bytes)?;
    if count == 0 {
        return Ok(None);
    }
    if !bytes.ends_with(b"\n") && (count as u64) < MAX_LINE {
        bytes.push(b'\n');
    }
    Ok(Some(bytes))
}
