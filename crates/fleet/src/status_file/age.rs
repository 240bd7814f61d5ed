//! Removes the files of workers that ended long ago.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use forge_types::Millis;

use super::{StatusFile, read, read_all};
use crate::worker::WorkerStatus;

/// A file that is old enough to remove, as it was when that was decided.
#[derive(Clone, Debug, PartialEq)]
pub struct Aged(pub StatusFile);

/// The files of ended workers (stopped or failed) that nobody has changed for longer than `age`.
pub fn aged(dir: &Path, age: Duration, now: Millis) -> io::Result<Vec<Aged>> {
    let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
    let old = |file: &StatusFile| {
        matches!(file.status, WorkerStatus::Stopped | WorkerStatus::Failed)
            && now.0.saturating_sub(file.updated_at.0) > age
    };
    Ok(read_all(dir)?.into_iter().filter(old).map(Aged).collect())
}

/// Removes exactly these and returns the removed ones. A file written to since then stays.
pub fn remove(files: Vec<Aged>) -> Vec<Aged> {
    let goes = |aged: &Aged| {
        let unchanged = read(&aged.0.path).as_ref() == Some(&aged.0);
        unchanged && fs::remove_file(&aged.0.path).is_ok()
    };
    files.into_iter().filter(goes).collect()
}
