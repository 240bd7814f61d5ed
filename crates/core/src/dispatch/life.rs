//! The log of a worker's life in an attempt, kept as the journal of a run.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use forge_run::fold::Dialect;
use forge_types::{Executor, LogSource, Millis, OldLine, Run, Voice, Worker, WorkerId};

use crate::Forge;
use crate::worktree::host::Directory;

/// Lines that are read at once.
const LINES: usize = 1_000;
/// A longer line is taken in pieces.
const MAX_LINE: u64 = 1 << 20;

impl Forge {
    /// Turns the worker's log into the journal of its run. Without one there is nothing to show, which ends nothing.
    pub(super) async fn keep_worker_log(&self, worker: &Worker, run: &mut Run, at: &Directory) {
        let log = self.worker_log(&worker.id);
        let source = match open(&log) {
            Ok(source) => source,
            Err(error) => {
                tracing::debug!(worker = %worker.id, %error, "a worker has left no log");
                LogSource::lines(Vec::new())
            }
        };
        // Only Claude Code prints in a terminal what it writes to Forge.
        let executor = run.action.profile().map(|profile| profile.executor);
        let known = executor.filter(|executor| *executor == Executor::ClaudeCode);
        let dialect = Dialect::of(known.or(Some(Executor::Shell)), run.reason);
        let adopted = match self.worker_secrets(&worker.id).await {
            Ok(secrets) => self.adopt_worker_log(run, at, source, dialect, secrets).await,
            Err(error) => Err(error),
        };
        match adopted {
            Ok(None) => {}
            Ok(Some(missing)) => tracing::warn!(worker = %worker.id, missing, "a worker's log is not whole"),
            Err(error) => tracing::warn!(worker = %worker.id, %error, "a worker's log is not kept"),
        }
    }

    /// Sets the log of a former life aside, so that the next one begins with a log of its own.
    pub(super) async fn set_log_aside(&self, id: &WorkerId) {
        let log = self.worker_log(id);
        let aside = log.with_extension(format!("log.{}", Millis::now().0));
        if let Err(error) = tokio::fs::rename(&log, &aside).await
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(worker = %id, %error, "the log of a former life stays in the worker's log");
        }
    }
}

fn open(path: &Path) -> std::io::Result<LogSource> {
    let file = forge_os::file::open(path.parent().unwrap_or(path), path)?;
    let bytes = file.metadata()?.len();
    let mut lines = BufReader::new(file);
    Ok(LogSource::new(bytes, move || {
        let mut batch = Vec::new();
        while batch.len() < LINES {
            let mut line = Vec::new();
            match (&mut lines).take(MAX_LINE).read_until(b'\n', &mut line) {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) => return Err(error.to_string()),
            }
            let text = String::from_utf8_lossy(&line).into_owned();
            batch.push(OldLine { voice: Voice::Stdout, at: None, text });
        }
        Ok((!batch.is_empty()).then_some(batch))
    }))
}
