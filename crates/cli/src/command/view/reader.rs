//! Reading the runs of an attempt, one after another.
//!
//! Invariant: every run is told once, from its first line on and in the order in which they began; the dev server, which
//! has no end, is not among them.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use anyhow::Result;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use serde_json::{Value, json};

use crate::client::Client;
use crate::command::list::ink;
use crate::process::Process;
use crate::terminal::Log;
use crate::transcript::{Ink, Line};
use crate::watch::{Feed, LULL, Screen, Step};

/// A queued prompt becomes a run in this time, or waits for somebody.
const DRAFT_LIMIT: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_secs(1);

/// What is shown of a run.
pub enum Form {
    Transcript(Screen),
    /// The bytes that it wrote.
    Raw(Log),
    /// The same for programs: chunks as JSON lines.
    Chunks,
}

/// How far runs are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    SoFar,
    ToTheEnd,
}

pub struct Reader<'a> {
    client: &'a Client,
    attempt: &'a str,
    form: Form,
    reading: Reading,
}

impl<'a> Reader<'a> {
    pub fn new(client: &'a Client, attempt: &'a str, form: Form, reading: Reading) -> Self {
        Self { client, attempt, form, reading }
    }

    pub fn form(&mut self) -> &mut Form {
        &mut self.form
    }

    /// Tells all runs; those to come too when it reads to the end. Answers the one that counts.
    pub async fn tell_all(&mut self) -> Result<Option<Process>> {
        let mut life = Life::of(self.client, self.attempt);
        let (mut told, mut counted) = (HashSet::new(), None);
        loop {
            let runs = Process::list(self.client, self.attempt).await?;
            let next = runs.iter().find(|run| run.run_reason != "devserver" && !told.contains(&run.id));
            if let Some(run) = next {
                self.tell(run).await?;
                told.insert(run.id.clone());
                if self.reading == Reading::ToTheEnd {
                    let ended = Process::settled(self.client, &run.id).await?;
                    self.conclude(&ended)?;
                    // A cleanup script that fails does not undo what the agent did.
                    if counted.is_none() || ended.run_reason != "cleanupscript" {
                        counted = Some(ended);
                    }
                }
            } else if self.reading == Reading::SoFar || !life.goes_on(&runs).await? {
                break;
            }
        }
        if let Form::Transcript(screen) = &mut self.form {
            // The last line may not be ended yet.
            screen.turn()?;
        }
        if let (Form::Transcript(screen), Some(last)) = (&mut self.form, &counted) {
            let word = if last.status == "killed" { "stopped" } else { last.status.as_str() };
            screen.object(&json!({"type": "end", "status": last.status, "exit_code": last.exit_code}))?;
            screen.part(&[Line::new(ink(word), word)])?;
        }
        Ok(counted)
    }

    /// Tells one run.
    pub async fn tell(&mut self, run: &Process) -> Result<()> {
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
            Reading::SoFar if run.status == "running" => Feed::so_far(self.client, path),
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
        if let (Some(until), "running") = (&run.parked_until, run.status.as_str()) {
            return screen
                .note(&format!("its provider serves it again at {until}; it goes on by itself then"));
        }
        if !run.is_agent() && run.status == "failed" {
            let code = run.exit_code.map_or_else(|| "failed".to_owned(), |code| format!("exit {code}"));
            return screen.script(Line::new(Ink::Red, &format!("  {code}")));
        }
        Ok(())
    }
}

impl Form {
    /// A remark of our own; it must not come between what programs read.
    fn remark(&mut self, words: &str) -> Result<()> {
        match self {
            Self::Transcript(screen @ Screen::Text(_)) => screen.note(words),
            _ => {
                eprintln!("forge: {words}");
                Ok(())
            }
        }
    }

    fn take(&mut self, run: &Process, change: &Value) -> Result<()> {
        match self {
            Self::Raw(log) => write_raw(log, &change["value"]),
            Self::Chunks => Screen::Json.chunk(&run.id, change),
            Self::Transcript(screen) if run.is_agent() => screen.entry(&run.id, change).map(drop),
            Self::Transcript(screen) => screen.chunk(&run.id, change),
        }
    }
}

/// A chunk of a raw log, as it was written.
fn write_raw(log: &mut Log, chunk: &Value) -> Result<()> {
    let text = chunk["content"].as_str().unwrap_or_default();
    let exact = chunk["bytes"].as_str().and_then(|bytes| BASE64.decode(bytes).ok());
    log.write(exact.as_deref().unwrap_or(text.as_bytes()))
}

/// What an attempt still has before it, and when that changes.
pub struct Life<'a> {
    client: &'a Client,
    attempt: &'a str,
    news: Feed,
    idle_since: Option<Instant>,
}

impl<'a> Life<'a> {
    pub fn of(client: &'a Client, attempt: &'a str) -> Self {
        let news = Feed::new(client, format!("/api/execution-processes/stream?task_attempt_id={attempt}"));
        Self { client, attempt, news, idle_since: None }
    }

    /// False when nothing is at work and nothing waits to be; true when something may have changed.
    pub async fn goes_on(&mut self, runs: &[Process]) -> Result<bool> {
        if runs.iter().any(Process::is_running) {
            self.idle_since = None;
        } else {
            let draft = format!("/api/task-attempts/{}/draft?type=follow_up", self.attempt);
            let draft: Value = self.client.get(&draft).await?;
            if draft["queued"] != true && draft["sending"] != true {
                // It may have become a run after they were listed.
                return Ok(Process::list(self.client, self.attempt).await?.len() > runs.len());
            }
            if self.idle_since.get_or_insert_with(Instant::now).elapsed() > DRAFT_LIMIT {
                return Ok(false);
            }
        }
        // A draft may be taken back, which no run tells of.
        match tokio::time::timeout(LOOK, self.news.next()).await {
            Ok(step) => step.map(|_| true),
            Err(_) => Ok(true),
        }
    }
}
