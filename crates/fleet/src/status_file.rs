//! Status files, in which workers report on themselves: one JSON object per worker in one folder.
//!
//! Owns reading, writing, watching and ageing them. Invariants: every file gives a row, even an unreadable one (status
//! Error, with the reason); a change keeps all other fields and replaces the file in one step; pausing a worker that
//! has no file creates none.

mod age;
mod parse;
mod watch;
mod write;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use forge_os::file;
use forge_types::Millis;
use serde_json::{Map, Value};

use crate::worker::{WorkerId, WorkerStatus, WorkerTier};

pub use age::{Aged, aged, remove};
pub use watch::{Change, Watch, watch};
pub(crate) use write::set_status;
pub use write::{StatusFileError, begin, fail, pause, resume, update};

/// A worker writes a few lines.
const MAX_BYTES: u64 = 256 << 10;
/// No machine has this many workers.
const MAX_FILES: usize = 10_000;

#[derive(Clone, Debug, PartialEq)]
pub struct StatusFile {
    pub path: PathBuf,
    /// From the file's content, else its name.
    pub worker_id: String,
    pub status: WorkerStatus,
    /// The status as written.
    pub word: String,
    /// Why the status is Error.
    pub reason: Option<String>,
    pub model: Option<String>,
    pub tier: Option<WorkerTier>,
    pub workspace: Option<PathBuf>,
    pub pid: Option<u32>,
    pub started_at: Option<Millis>,
    /// The newest of `last_update` and `last_activity`, else when the file was written.
    pub updated_at: Millis,
    pub current_task: Option<CurrentTask>,
    pub tasks_completed: Option<u64>,
    pub paused_at: Option<Millis>,
    pub pause_reason: Option<String>,
    /// All fields, including unknown ones.
    pub fields: Map<String, Value>,
}

impl StatusFile {
    /// The worker's status while it runs; none once it has an exit code.
    pub fn says(&self) -> Option<WorkerStatus> {
        (!self.fields.contains_key("exit_code")).then_some(self.status)
    }
}

/// A worker's current task, in any of the accepted forms.
#[derive(Clone, Debug, PartialEq)]
pub struct CurrentTask {
    /// One line for people.
    pub text: String,
    pub bead_id: Option<String>,
    pub title: Option<String>,
    pub priority: Option<u8>,
}

/// Reads one file; none if it does not exist.
pub fn read(path: &Path) -> Option<StatusFile> {
    let written_at = match fs::metadata(path) {
        Ok(about) => about.modified().ok().map_or(Millis(0), millis),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => return Some(parse::unreadable(path, Millis(0), &error.to_string())),
    };
    match file::if_any(read_bytes(path)) {
        Ok(bytes) => Some(parse::parse(path, written_at, &bytes?)),
        Err(error) => Some(parse::unreadable(path, written_at, &error.to_string())),
    }
}

/// The bytes of a file that lies in the folder itself.
fn read_bytes(path: &Path) -> Result<Vec<u8>, file::FileError> {
    file::read(path.parent().unwrap_or(path), path, MAX_BYTES)
}

/// Reads all files of a folder, by worker. A missing folder has none.
pub fn read_all(dir: &Path) -> io::Result<Vec<StatusFile>> {
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let paths = entries.flatten().map(|entry| entry.path()).filter(|path| is_status_file(path));
    let mut files: Vec<StatusFile> = paths.take(MAX_FILES).filter_map(|path| read(&path)).collect();
    files.sort_by(|a, b| a.worker_id.cmp(&b.worker_id).then_with(|| a.path.cmp(&b.path)));
    Ok(files)
}

/// The file of a worker: the one named after it, else the one that names it.
pub fn find(dir: &Path, worker_id: &WorkerId) -> Option<StatusFile> {
    let named = read(&dir.join(format!("{worker_id}.json")));
    named.or_else(|| {
        let all = read_all(dir).unwrap_or_default();
        all.into_iter().find(|file| file.worker_id == worker_id.as_str())
    })
}

/// Files that are being written have other names: hidden, or with another extension.
fn is_status_file(path: &Path) -> bool {
    let hidden = path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
    !hidden && path.extension().is_some_and(|end| end == "json")
}

pub(crate) fn millis(time: std::time::SystemTime) -> Millis {
    let since = time.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Millis(i64::try_from(since.as_millis()).unwrap_or_default())
}
