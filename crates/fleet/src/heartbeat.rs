//! Signs of life without content: `heartbeat/<worker>.heartbeat`, touched by whoever runs the agent while it is busy.
//!
//! Invariant: only the modification time of a file counts, not its content.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use forge_types::Millis;

/// An older heartbeat is ignored.
const FRESH: Duration = Duration::from_secs(120);

/// When each worker's file was written last.
pub fn read_all(dir: &Path) -> HashMap<String, Millis> {
    let files = fs::read_dir(dir).into_iter().flatten().flatten();
    let beat = |file: fs::DirEntry| {
        let name = file.file_name().into_string().ok()?;
        let worker = name.strip_suffix(".heartbeat")?.to_owned();
        let at = file.metadata().ok()?.modified().ok()?;
        Some((worker, crate::status_file::millis(at)))
    };
    files.filter_map(beat).collect()
}

/// How long a worker has been silent: a fresh heartbeat means that it is busy, not gone.
pub fn silence(said_at: Option<Millis>, beat_at: Option<Millis>, now: Millis) -> Option<Duration> {
    let since = |at: Millis| Duration::from_millis(now.0.saturating_sub(at.0).max(0).unsigned_abs());
    let beat = beat_at.map(since).filter(|silent| *silent <= FRESH);
    said_at.map(since).into_iter().chain(beat).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_heartbeat_breaks_the_silence_and_an_old_one_does_not() {
        let now = Millis(1_000_000_000);
        let ago = |secs: i64| Some(Millis(now.0 - secs * 1000));
        let silent = |said, beat| silence(said, beat, now).map(|silent| silent.as_secs());
        assert_eq!(silent(ago(900), None), Some(900));
        assert_eq!(silent(ago(900), ago(30)), Some(30));
        assert_eq!(silent(ago(900), ago(121)), Some(900));
        assert_eq!(silent(ago(10), ago(30)), Some(10));
        assert_eq!(silent(None, None), None);
    }

    #[test]
    fn files_are_named_after_workers() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["alpha.heartbeat", "note.txt"] {
            fs::write(dir.path().join(name), "{}").unwrap();
        }
        assert_eq!(read_all(dir.path()).into_keys().collect::<Vec<_>>(), ["alpha"]);
        assert!(read_all(&dir.path().join("missing")).is_empty());
    }
}
