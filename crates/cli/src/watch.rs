//! Watching a run to its end, with a person who may answer, stop it or leave.
//!
//! Invariant: whatever the person does, the run's end is told by the server and by nobody else; leaving leaves the
//! agent at work.

mod ask;
mod feed;
mod screen;

use std::io::{BufRead, IsTerminal};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::client::{Client, Refused};
use crate::process::Process;
use crate::transcript::{Ink, Line, question};
use ask::{Ask, Asks, CHOICE, Choice, News, REASON, read_choice};
pub use feed::{Feed, Step};
use screen::Answered;
pub use screen::Screen;

/// A question is in the log a moment before it can be answered.
const ASKED_LIMIT: Duration = Duration::from_secs(10);
const ASKED_PAUSE: Duration = Duration::from_millis(100);

/// Who answers the agent's questions.
pub enum Consent {
    /// Everything is allowed.
    Given,
    /// The person at the terminal.
    Asked(mpsc::Receiver<String>),
    /// Somebody else; it is said how.
    Elsewhere,
}

impl Consent {
    pub fn of(yes: bool, json: bool) -> Self {
        let talks = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        match (yes, json) {
            (true, _) => Consent::Given,
            (false, false) if talks => Consent::Asked(typed_lines()),
            _ => Consent::Elsewhere,
        }
    }
}

/// Lines from the keyboard. The thread waits for one when the program ends, which does not wait for it.
fn typed_lines() -> mpsc::Receiver<String> {
    let (lines, typed) = mpsc::channel(8);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if lines.blocking_send(line).is_err() {
                return;
            }
        }
    });
    typed
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Watched {
    Ended,
    Left,
}

/// What the next typed line is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Typing {
    Nothing,
    Choice,
    Reason,
}

pub struct Watch<'a> {
    client: &'a Client,
    attempt: &'a str,
    screen: &'a mut Screen,
    consent: Consent,
    interrupts: Signal,
    asks: Asks,
    typing: Typing,
    stopping: Option<JoinHandle<Result<Value>>>,
    stopped: bool,
}

impl<'a> Watch<'a> {
    pub fn new(
        client: &'a Client,
        attempt: &'a str,
        screen: &'a mut Screen,
        consent: Consent,
    ) -> Result<Self> {
        let interrupts = signal(SignalKind::interrupt()).context("cannot listen to Ctrl-C")?;
        Ok(Self {
            client,
            attempt,
            screen,
            consent,
            interrupts,
            asks: Asks::default(),
            typing: Typing::Nothing,
            stopping: None,
            stopped: false,
        })
    }

    pub fn screen(&mut self) -> &mut Screen {
        self.screen
    }

    /// Tells a run from its beginning to its end.
    pub async fn tell(&mut self, run: &Process) -> Result<Watched> {
        let log = if run.is_agent() { "normalized-logs" } else { "raw-logs" };
        let mut feed = Feed::new(self.client, format!("/api/execution-processes/{}/{log}/ws", run.id));
        self.screen.turn()?;
        self.asks.clear();
        loop {
            tokio::select! {
                step = feed.next() => match step? {
                    Step::Changes(changes) => self.take(run, &changes).await?,
                    Step::Lost => self.screen.note("the server went away; waiting for it")?,
                    Step::Back => self.screen.note("the server is back")?,
                    Step::Finished => return Ok(Watched::Ended),
                },
                line = next_line(&mut self.consent) => self.take_line(line).await?,
                _ = self.interrupts.recv() => {
                    if self.stopped {
                        return Ok(Watched::Left);
                    }
                    self.stop()?;
                }
                ended = joined(&mut self.stopping) => {
                    if let Err(error) = ended {
                        self.screen.lines(&[Line::new(Ink::Red, &format!("! cannot stop it: {error:#}"))])?;
                        self.stopped = false;
                    }
                }
            }
        }
    }

    async fn take(&mut self, run: &Process, changes: &[Value]) -> Result<()> {
        for change in changes {
            if !run.is_agent() {
                self.screen.chunk(&run.id, change)?;
                continue;
            }
            let Some((index, entry)) = self.screen.entry(&run.id, change)? else { continue };
            match self.asks.notice(index, &entry) {
                News::None => {}
                News::Asked(ask) => self.put(&ask).await?,
                News::Settled { .. } if self.typing != Typing::Nothing => {
                    self.screen.clear_prompt(Answered::Elsewhere)?;
                    self.screen.note("answered elsewhere")?;
                    self.ask_next()?;
                }
                News::Settled { .. } => {}
            }
        }
        Ok(())
    }

    async fn put(&mut self, ask: &Ask) -> Result<()> {
        match &self.consent {
            Consent::Given => {
                self.asks.clear();
                self.answer(&ask.approval, &json!({"approved": true})).await?;
                self.screen.note("allowed by --yes")
            }
            Consent::Asked(_) if self.typing != Typing::Nothing => Ok(()),
            Consent::Asked(_) => self.ask_next(),
            Consent::Elsewhere => self.tell_how_to_answer(ask),
        }
    }

    fn ask_next(&mut self) -> Result<()> {
        self.typing = Typing::Nothing;
        let Some(ask) = self.asks.first() else { return Ok(()) };
        self.screen.part(&question(&ask.entry))?;
        self.screen.prompt(CHOICE)?;
        self.typing = Typing::Choice;
        Ok(())
    }

    fn tell_how_to_answer(&mut self, ask: &Ask) -> Result<()> {
        let token = self.client.curl_header();
        let address = format!("{}/api/approvals/{}/respond", self.client.base(), ask.approval);
        let command = format!(
            "  curl -s {address}{token} -H 'content-type: application/json' -d '{{\"approved\":true}}'"
        );
        let mut lines = question(&ask.entry);
        lines.push(Line::new(
            Ink::Plain,
            "  It waits. Answer on the board, or with (false and \"comment\" to refuse):",
        ));
        lines.push(Line::new(Ink::Plain, &command).whole());
        if let Screen::Json = self.screen {
            eprintln!("forge: the agent waits for an answer:\n{command}");
        }
        self.screen.part(&lines)
    }

    async fn take_line(&mut self, line: Option<String>) -> Result<()> {
        let Some(line) = line else {
            // The keyboard is gone for good; the question is not.
            self.consent = Consent::Elsewhere;
            self.typing = Typing::Nothing;
            self.screen.clear_prompt(Answered::Elsewhere)?;
            return match self.asks.first().cloned() {
                Some(ask) => self.tell_how_to_answer(&ask),
                None => Ok(()),
            };
        };
        let typing = std::mem::replace(&mut self.typing, Typing::Nothing);
        if typing == Typing::Nothing {
            // Typed while nothing was asked: it cannot be meant as an answer to what comes later.
            return Ok(());
        }
        self.screen.clear_prompt(Answered::Here)?;
        let deny = |reason: &str| json!({"approved": false, "comment": Some(reason).filter(|text| !text.is_empty())});
        let body = match (typing, read_choice(&line)) {
            (Typing::Reason, _) => deny(line.trim()),
            (_, Choice::Allow) => json!({"approved": true}),
            (_, Choice::Deny { reason }) => deny(&reason),
            (_, Choice::AskReason) => {
                self.screen.prompt(REASON)?;
                self.typing = Typing::Reason;
                return Ok(());
            }
            (_, Choice::Stop) => {
                self.asks.clear();
                return self.stop();
            }
            (_, Choice::Unclear) => {
                self.screen.prompt(CHOICE)?;
                self.typing = Typing::Choice;
                return Ok(());
            }
        };
        if let Some(ask) = self.asks.take_first() {
            self.answer(&ask.approval, &body).await?;
        }
        self.ask_next()
    }

    async fn answer(&mut self, approval: &str, body: &Value) -> Result<()> {
        let path = format!("/api/approvals/{approval}/respond");
        let respond = async {
            loop {
                match self.client.post::<Value>(&path, body).await {
                    Err(error) if is(&error, 404) => tokio::time::sleep(ASKED_PAUSE).await,
                    other => return other.map(|_| ()),
                }
            }
        };
        match tokio::time::timeout(ASKED_LIMIT, respond).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) if is(&error, 409) => self.screen.note("it was answered already"),
            Ok(Err(error)) => {
                self.screen.lines(&[Line::new(Ink::Red, &format!("! the answer was not taken: {error:#}"))])
            }
            Err(_) => self.screen.lines(&[Line::new(Ink::Red, "! the server does not know this question")]),
        }
    }

    /// Asks the server to stop the run; its end comes through the log.
    fn stop(&mut self) -> Result<()> {
        self.stopped = true;
        self.typing = Typing::Nothing;
        self.screen.clear_prompt(Answered::Elsewhere)?;
        self.screen.note("stopping (Ctrl-C again leaves without waiting)")?;
        let (client, path) = (self.client.clone(), format!("/api/task-attempts/{}/stop", self.attempt));
        self.stopping = Some(tokio::spawn(async move { client.post(&path, &json!({})).await }));
        Ok(())
    }
}

fn is(error: &anyhow::Error, status: u16) -> bool {
    error.downcast_ref::<Refused>().is_some_and(|refused| refused.status == status)
}

async fn next_line(consent: &mut Consent) -> Option<String> {
    match consent {
        Consent::Asked(lines) => lines.recv().await,
        Consent::Given | Consent::Elsewhere => std::future::pending().await,
    }
}

/// The end of the request to stop, told once.
async fn joined(stopping: &mut Option<JoinHandle<Result<Value>>>) -> Result<()> {
    let Some(task) = stopping else { return std::future::pending().await };
    let ended = task.await;
    *stopping = None;
    ended?.map(|_| ())
}
