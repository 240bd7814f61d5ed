//! Writes a status file back: only what changed, in one step.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use forge_os::file::FileError;
use forge_types::Millis;
use serde_json::{Map, Value};

use super::{StatusFile, find, read, read_bytes};
use crate::worker::{WorkerId, WorkerStatus};

/// A worker may write at the same time; then its newer content is read and changed instead.
const ATTEMPTS: usize = 5;

#[derive(Debug, thiserror::Error)]
pub enum StatusFileError {
    #[error("{}: {reason}; it was not changed", path.display())]
    NotUnderstood { path: PathBuf, reason: String },
    #[error("{}: the worker keeps writing to it; try again", path.display())]
    Busy { path: PathBuf },
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
}

/// Changes fields of a worker's file. No file is created for a worker that has none.
pub fn update(
    dir: &Path,
    worker_id: &WorkerId,
    change: impl Fn(&mut Map<String, Value>),
) -> Result<Option<StatusFile>, StatusFileError> {
    for _ in 0..ATTEMPTS {
        let Some(file) = find(dir, worker_id) else { return Ok(None) };
        let path = file.path.clone();
        let failed = |source| StatusFileError::Io { path: path.clone(), source };
        let before = read_bytes(&path)?;
        let mut fields = match serde_json::from_slice(before.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&before))
        {
            Ok(Value::Object(fields)) => fields,
            Ok(_) => return Err(not_understood(path, "it is JSON, but not an object")),
            Err(error) => return Err(not_understood(path, &error.to_string())),
        };
        change(&mut fields);
        let text = serde_json::to_string_pretty(&fields).map_err(|error| failed(error.into()))? + "\n";
        if replace(&path, &before, text.as_bytes()).map_err(failed)? {
            return Ok(read(&path));
        }
    }
    Err(StatusFileError::Busy { path: dir.join(format!("{worker_id}.json")) })
}

/// Changes the status, with the time of it.
pub(crate) fn set_status(
    dir: &Path,
    worker_id: &WorkerId,
    status: WorkerStatus,
) -> Result<Option<StatusFile>, StatusFileError> {
    update(dir, worker_id, |fields| put_status(fields, status))
}

/// A new run begins: what the last one wrote about its end no longer applies.
pub fn begin(dir: &Path, worker_id: &WorkerId) -> Result<Option<StatusFile>, StatusFileError> {
    update(dir, worker_id, |fields| {
        put_status(fields, WorkerStatus::Starting);
        fields.remove("exit_code");
    })
}

/// The worker died. Its own status counts if it reports an end.
pub fn fail(dir: &Path, worker_id: &WorkerId) -> Result<Option<StatusFile>, StatusFileError> {
    match find(dir, worker_id) {
        Some(file) if file.status.is_healthy() => set_status(dir, worker_id, WorkerStatus::Failed),
        file => Ok(file),
    }
}

/// The worker takes no new task from now on, if it cooperates.
pub fn pause(dir: &Path, worker_id: &WorkerId, reason: &str) -> Result<Option<StatusFile>, StatusFileError> {
    update(dir, worker_id, |fields| {
        put_status(fields, WorkerStatus::Paused);
        fields.insert("paused_at".to_owned(), Millis::now().to_string().into());
        fields.insert("pause_reason".to_owned(), reason.into());
    })
}

pub fn resume(dir: &Path, worker_id: &WorkerId) -> Result<Option<StatusFile>, StatusFileError> {
    update(dir, worker_id, |fields| {
        put_status(fields, WorkerStatus::Idle);
        fields.remove("paused_at");
        fields.remove("pause_reason");
    })
}

fn put_status(fields: &mut Map<String, Value>, status: WorkerStatus) {
    fields.insert("status".to_owned(), status.as_str().into());
    fields.insert("last_update".to_owned(), Millis::now().to_string().into());
}

/// Replaces the file unless it has changed since `before` was read. `forge_os` does not check again between writing and
/// renaming.
fn replace(path: &Path, before: &[u8], after: &[u8]) -> std::io::Result<bool> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = path.with_file_name(format!(".{name}.{}", uuid::Uuid::new_v4().simple()));
    let written = fs::File::create(&draft).and_then(|mut file| {
        file.write_all(after)?;
        file.sync_all()
    });
    let replaced = written.and_then(|()| match read_bytes(path)? == before {
        true => fs::rename(&draft, path).map(|()| true),
        false => Ok(false),
    });
    if !matches!(replaced, Ok(true)) {
        let _ = fs::remove_file(&draft);
    }
    replaced
}

fn not_understood(path: PathBuf, reason: &str) -> StatusFileError {
    StatusFileError::NotUnderstood { path, reason: reason.to_owned() }
}
