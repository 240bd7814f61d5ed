//! Logs that were written elsewhere become journals.
//!
//! Invariant: a log is copied some lines at a time, so its size does not matter. What the source cannot give any more is
//! said at the end of the journal and in the result.

use std::io;
use std::path::{Path, PathBuf};

use forge_run::fold::{Dialect, Fold, FoldContext, RunOutcome};
use forge_run::{Adoption, Exit, ExitReason, Kind as RecordKind, Reader, Secrets, View};
use forge_types::{LogSource, Millis, OldLine, Run, RunStatus, Voice};

use crate::worktree::host::Directory;
use crate::{Error, Forge, Result};

const READ_BYTES: usize = 256 << 10;

impl Forge {
    /// Makes the log of a worker that worked in the directory the journal of a run.
    pub(crate) async fn adopt_worker_log(
        &self,
        run: &mut Run,
        at: &Directory,
        log: LogSource,
        dialect: Dialect,
        secrets: Secrets,
    ) -> Result<Option<String>> {
        self.adopt_log_in(run, at.local_path().to_owned(), log, dialect, secrets).await
    }

    /// The same for a log that is not what the agent writes to Forge.
    pub(crate) async fn adopt_log_in(
        &self,
        run: &mut Run,
        worktree: PathBuf,
        mut log: LogSource,
        dialect: Dialect,
        secrets: Secrets,
    ) -> Result<Option<String>> {
        let dir = self.run_dir(run.id);
        let context = FoldContext { run: run.id, worktree, answer_ms: 0, secrets };
        let (started_at, exit) = (run.started_at, exit_of(run));
        let adopted = tokio::task::spawn_blocking(move || {
            let adoption = Adoption::begin(&dir, &context.worktree, &context.secrets)?;
            let missing = copy(adoption, started_at, &exit, &mut log)?;
            let outcome = read(&dir, Fold::new(dialect, &context))?;
            context.secrets.forget_unseen(&dir)?;
            Ok::<_, io::Error>((missing, outcome))
        });
        let adopted = adopted.await.unwrap_or_else(|cause| Err(io::Error::other(cause)));
        let (missing, outcome) = adopted.map_err(|cause| {
            Error::internal(format!("cannot write the log of run {}: {cause}", run.id), cause)
        })?;
        run.session_id = run.session_id.take().or(outcome.session_id);
        run.summary = run.summary.take().or(outcome.summary);
        self.keep_output(run, outcome.transcript_tail).await;
        Ok(missing)
    }
}

fn exit_of(run: &Run) -> Exit {
    let reason = match run.status {
        RunStatus::Killed => ExitReason::Stopped,
        _ => ExitReason::Exited,
    };
    let at_ms = run.completed_at.unwrap_or(run.started_at).0;
    Exit { code: run.exit_code, signal: None, reason, at_ms }
}

fn copy(
    mut adoption: Adoption,
    started_at: Millis,
    exit: &Exit,
    log: &mut LogSource,
) -> io::Result<Option<String>> {
    let mut at = started_at;
    let missing = loop {
        match log.pull() {
            Ok(Some(lines)) => {
                for OldLine { voice, at: written, text } in lines {
                    at = written.unwrap_or(at);
                    adoption.add(record_kind(voice), at.0, &text)?;
                }
            }
            Ok(None) => break None,
            Err(reason) => {
                adoption.add(
                    RecordKind::Note,
                    at.0,
                    &format!("The rest of this log could not be read: {reason}\n"),
                )?;
                break Some(reason);
            }
        }
    };
    adoption.finish(exit)?;
    Ok(missing)
}

fn record_kind(voice: Voice) -> RecordKind {
    match voice {
        Voice::Stdout => RecordKind::Stdout,
        Voice::Stderr => RecordKind::Stderr,
        Voice::Stdin => RecordKind::Stdin,
        Voice::Note => RecordKind::Note,
    }
}

fn read(dir: &Path, mut fold: Fold) -> io::Result<RunOutcome> {
    let mut reader = Reader::open(dir, View::Exact)?;
    let (mut records, mut patches) = (Vec::new(), Vec::new());
    loop {
        reader.read(READ_BYTES, &mut records)?;
        if records.is_empty() {
            break;
        }
        for record in records.drain(..) {
            fold.push(&record, &mut patches);
            patches.clear();
        }
    }
    fold.finish(&mut patches);
    Ok(fold.outcome().clone())
}
