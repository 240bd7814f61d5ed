//! Reading the runs of an attempt, one after another.
//!
//! Invariant: every run is shown once, from its first line and in the order they began; the dev server, which
//! has no end, is left out.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use anyhow::Result;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use forge_types::wire::{DraftResponse, PatchOp, RawLogEntry};
use forge_types::{AttemptId, RunReason, RunStatus};
use serde_json::json;

use crate::client::Client;
use crate::command::list::ink;
use crate::process::Process;
use crate::terminal::Log;
use crate::transcript::{Ink, Line};
use crate::watch::{Feed, LULL, Screen, Step};

/// A queued prompt becomes a run within this time, or needs a person.
const DRAFT_LIMIT: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_secs(1);

/// How a run is shown.
pub enum Form {
    Transcript(Screen),
    /// The bytes it wrote.
    Raw(Log),
    /// The same for programs: chunks as JSON lines.
    Chunks,
}

/// How far to read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    SoFar,
    ToTheEnd,
}

pub struct Reader<'a> {
    client: &'a Client,
    attempt: AttemptId,
    form: Form,
    reading: Reading,
}

impl<'a> Reader<'a> {
    pub fn new(client: &'a Client, attempt: AttemptId, form: Form, reading: Reading) -> Self {
        Self { client, attempt, form, reading }
    }

    pub fn form(&mut self) -> &mut Form {
        &mut self.form
    }

    /// Shows all runs, also future ones when reading to the end. Returns the one that counts.
    pub async fn show_all(&mut self) -> Result<Option<Process>> {
        let mut life = Life::of(self.client, self.attempt);
        let (mut shown, mut counted) = (HashSet::new(), None);
        loop {
            let runs = Process::list(self.client, self.attempt).await?;
            let next =
                runs.iter().find(|run| run.run_reason != RunReason::DevServer && !shown.contains(&run.id));
            if let Some(run) = next {
                self.show(run).await?;
                shown.insert(run.id);
                if self.reading == Reading::ToTheEnd {
                    let ended = Process::settled(self.client, run.id).await?;
                    self.conclude(&ended)?;
                    // A cleanup script that fails does not undo what the agent did.
                    if counted.is_none() || ended.run_reason != RunReason::CleanupScript {
                        counted = Some(ended);
                    }
                }
            } else if self.reading == Reading::SoFar || !life.continues(&runs).await? {
                break;
            }
        }
        if let Form::Transcript(screen) = &mut self.form {
            // The last line may be incomplete.
            screen.turn()?;
        }
        if let (Form::Transcript(screen), Some(last)) = (&mut self.form, &counted) {
            let word = if last.status == RunStatus::Killed { "stopped" } else { last.status.as_str() };
            screen.object(&json!({"type": "end", "status": last.status, "exit_code": last.exit_code}))?;
            screen.part(&[Line::new(ink(word), word)])?;
        }
        Ok(counted)
    }

    /// Shows one run.
    pub async fn show(&mut self, run: &Process) -> Result<()> {
        let path = match &mut self.form {
            Form::Raw(_) | Form::Chunks => run.raw_log(),
            Form::Transcript(screen) => {
                screen.turn()?;
                if !run.is_agent() {
                    screen.script(Line::new(Ink::Cyan, run.name()))?;
                }
                run.log()
            }
        };
        let mut feed = match self.reading {
            Reading::SoFar if run.status == RunStatus::Running => Feed::so_far(self.client, path),
            _ => Feed::new(self.client, path),
        };
        loop {
            let step = match tokio::time::timeout(LULL, feed.next()).await {
                Ok(step) => step?,
                Err(_) => {
                    if let Form::Transcript(screen) = &mut self.form {
                        screen.rest()?;
                    }
                    feed.next().await?
                }
            };
            match step {
                Step::Changes(changes) => {
                    changes.iter().try_for_each(|change| self.form.take(run, change))?
                }
                Step::Lost => self.form.remark("the server went away; waiting for it")?,
                Step::Back => self.form.remark("the server is back")?,
                Step::Finished => return Ok(()),
            }
        }
    }

    fn conclude(&mut self, run: &Process) -> Result<()> {
        let Form::Transcript(screen) = &mut self.form else { return Ok(()) };
        if let (Some(until), RunStatus::Running) = (run.parked_until, run.status) {
            return screen.note(&format!(
                "its provider is available again at {until}; it continues automatically then"
            ));
        }
        if !run.is_agent() && run.status == RunStatus::Failed {
            let code = run.exit_code.map_or_else(|| "failed".to_owned(), |code| format!("exit {code}"));
            return screen.script(Line::new(Ink::Red, &format!("  {code}")));
        }
        Ok(())
    }
}

impl Form {
    /// A remark of our own; kept out of output for programs.
    fn remark(&mut self, words: &str) -> Result<()> {
        match self {
            Self::Transcript(screen @ Screen::Text(_)) => screen.note(words),
            _ => {
                eprintln!("forge: {words}");
                Ok(())
            }
        }
    }

    fn take(&mut self, run: &Process, change: &PatchOp) -> Result<()> {
        match self {
            Self::Raw(log) => change.read().map_or(Ok(()), |chunk| write_raw(log, &chunk)),
            Self::Chunks => Screen::Json.chunk(run.id, change),
            Self::Transcript(screen) if run.is_agent() => screen.entry(run.id, change).map(drop),
            Self::Transcript(screen) => screen.chunk(run.id, change),
        }
    }
}

/// A chunk of a raw log, byte for byte.
fn write_raw(log: &mut Log, chunk: &RawLogEntry) -> Result<()> {
    let exact = chunk.bytes.as_ref().and_then(|bytes| BASE64.decode(bytes).ok());
    log.write(exact.as_deref().unwrap_or(chunk.content.as_bytes()))
}

/// Whether an attempt continues, and when that changes.
pub struct Life<'a> {
    client: &'a Client,
    attempt: AttemptId,
    news: Feed,
    idle_since: Option<Instant>,
}

impl<'a> Life<'a> {
    pub fn of(client: &'a Client, attempt: AttemptId) -> Self {
        let news = Feed::new(client, format!("/api/execution-processes/stream?task_attempt_id={attempt}"));
        Self { client, attempt, news, idle_since: None }
    }

    /// False when nothing is running or queued; true when something may have changed.
    pub async fn continues(&mut self, runs: &[Process]) -> Result<bool> {
        if runs.iter().any(Process::is_running) {
            self.idle_since = None;
        } else {
            let draft = format!("/api/task-attempts/{}/draft?type=follow_up", self.attempt);
            let draft: DraftResponse = self.client.get(&draft).await?;
            if !draft.queued && !draft.sending {
                // It may have become a run after they were listed.
                return Ok(Process::list(self.client, self.attempt).await?.len() > runs.len());
            }
            if self.idle_since.get_or_insert_with(Instant::now).elapsed() > DRAFT_LIMIT {
                return Ok(false);
            }
        }
        // A draft may be withdrawn, which no run shows.
        match tokio::time::timeout(LOOK, self.news.next()).await {
            Ok(step) => Ok(step.map(|_| true)?),
            Err(_) => Ok(true),
        }
    }
}
