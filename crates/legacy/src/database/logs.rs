//! Where the log of an old process is: in separate rows, in its own row, or in a file beside the database.
//!
//! Invariant: one row, or a few lines of a file, are in memory at a time.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use forge_types::{LogSource, OldLine, RunId, Voice};
use sqlx::{AssertSqlSafe, Row};
use tokio::runtime::Handle;

use super::open::Opened;
use super::table::Tables;
use super::{cell, jsonl};

/// How much of a file is read at a time.
const FILE_BYTES: usize = 256 << 10;

pub(super) struct Logs {
    opened: Arc<Mutex<Opened>>,
    /// Bytes in separate rows, by process.
    sizes: HashMap<String, u64>,
    /// The folder of the database.
    folder: PathBuf,
}

/// Which cells hold the log of a process, one after the other.
#[derive(Clone, Copy)]
enum Cells {
    /// JSON lines.
    Logs,
    /// Plain text in the process's own row.
    Output,
}

impl Logs {
    pub(super) fn new(opened: Opened, tables: &Tables, folder: &Path) -> Logs {
        let mut sizes = HashMap::new();
        for record in tables.rows("execution_process_logs") {
            let bytes = record.number("byte_size").or_else(|| record.number("logs_bytes")).unwrap_or(0);
            if let Some(key) = record.key(&["execution_id", "execution_process_id"]) {
                *sizes.entry(key).or_insert(0) += bytes.max(0) as u64;
            }
        }
        if tables.has_column("execution_processes", "stdout") {
            for record in tables.rows("execution_processes") {
                let bytes = ["stdout_bytes", "stderr_bytes"]
                    .iter()
                    .filter_map(|name| record.number(name))
                    .sum::<i64>();
                if let Some(key) = record.key(&["id"]).filter(|_| bytes > 0) {
                    sizes.entry(key).or_insert(bytes as u64);
                }
            }
        }
        Logs { opened: Arc::new(Mutex::new(opened)), sizes, folder: folder.to_owned() }
    }

    /// The log of a process; its file is stored under `session`.
    pub(super) fn of(&self, tables: &Tables, process: &str, session: Option<&str>) -> Option<LogSource> {
        if let Some(file) = session.and_then(|session| self.file(session, process)) {
            return file_source(file);
        }
        let bytes = *self.sizes.get(process)?;
        let in_own_row = tables.has_column("execution_processes", "stdout");
        let cells = if in_own_row { Cells::Output } else { Cells::Logs };
        Some(self.row_source(cells, process, bytes))
    }

    fn file(&self, session: &str, process: &str) -> Option<PathBuf> {
        let sessions = self.folder.join("sessions");
        let short = sessions.join(session.get(..2).unwrap_or_default());
        let name = format!("{process}.jsonl");
        [short, sessions]
            .into_iter()
            .map(|folder| folder.join(session).join("processes").join(&name))
            .find(|file| file.is_file())
    }

    fn row_source(&self, cells: Cells, process: &str, bytes: u64) -> LogSource {
        let (opened, process) = (Arc::clone(&self.opened), process.to_owned());
        let mut last = i64::MIN;
        let mut remarked = false;
        LogSource::new(bytes, move || {
            let mut opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
            let (sql, handle) = (next_row(cells), Handle::current());
            let bytes = process.parse::<RunId>().map(|id| id.0.as_bytes().to_vec()).unwrap_or_default();
            let query =
                sqlx::query(AssertSqlSafe(sql)).bind(bytes).bind(&process).bind(process.replace('-', ""));
            let row = handle.block_on(query.bind(last).fetch_optional(opened.conn()));
            let Some(row) = row.map_err(|error| error.to_string())? else { return Ok(None) };
            last = row.try_get(0).map_err(|error| error.to_string())?;
            let mut lines = Vec::new();
            let mut text = |index| {
                let bytes = cell::bytes(&row, index).unwrap_or_default();
                let (text, remark) = OldLine::text_of(&bytes, &mut remarked);
                lines.extend(remark);
                text
            };
            match cells {
                Cells::Logs => {
                    let text = text(1);
                    lines.extend(jsonl::lines(&text));
                }
                Cells::Output => {
                    let said = [(Voice::Stdout, text(1)), (Voice::Stderr, text(2))];
                    let said = said.into_iter().filter(|(_, text)| !text.is_empty());
                    lines.extend(said.map(|(voice, text)| OldLine { voice, at: None, text }));
                }
            }
            Ok(Some(lines))
        })
    }
}

/// The row after the last one. Ids are bytes in some tables and text in others.
fn next_row(cells: Cells) -> String {
    let (table, column, shown) = match cells {
        Cells::Logs => ("execution_process_logs", "execution_id", "logs"),
        Cells::Output => ("execution_processes", "id", "stdout, stderr"),
    };
    format!(
        "SELECT rowid, {shown} FROM {table} WHERE {column} IN ($1, $2, $3) AND rowid > $4 ORDER BY rowid LIMIT 1"
    )
}

fn file_source(path: PathBuf) -> Option<LogSource> {
    let bytes = path.metadata().ok()?.len();
    let (mut reader, mut remarked) = (None, false);
    Some(LogSource::new(bytes, move || {
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        let reader = match &mut reader {
            Some(reader) => reader,
            empty => empty.insert(BufReader::new(File::open(&path).map_err(failed)?)),
        };
        let mut piece = Vec::new();
        while piece.len() < FILE_BYTES {
            if reader.read_until(b'\n', &mut piece).map_err(failed)? == 0 {
                break;
            }
        }
        if piece.is_empty() {
            return Ok(None);
        }
        let (text, remark) = OldLine::text_of(&piece, &mut remarked);
        Ok(Some(remark.into_iter().chain(jsonl::lines(&text)).collect()))
    }))
}
