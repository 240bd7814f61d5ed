//! Shows a run to its end, to a person who may answer, stop it or leave.
//!
//! Invariant: only the server decides when the run has ended; leaving leaves the
//! agent running.

mod ask;
mod keyboard;
mod leave;
mod screen;
mod status;

use std::pin::pin;
use std::time::{Duration, Instant};

use anyhow::Result;
use forge_types::wire::PatchOp;
use forge_types::{Attempt, AttemptId};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::client::{Client, Kind, kind_of};
use crate::process::Process;
use crate::terminal;
use crate::transcript::{Ink, Line, question};
use ask::{Ask, Asks, CHOICE, Change, Choice, REASON, read_choice};
pub use forge_client::{Feed, Step};
use keyboard::Keyboard;
use leave::Signals;
use screen::Answered;
pub use screen::Screen;
use status::Status;

/// Incomplete text is shown after this time without more.
pub const LULL: Duration = Duration::from_millis(30);
/// A question appears in the log a moment before it can be answered.
const ASKED_LIMIT: Duration = Duration::from_secs(10);
const ASKED_PAUSE: Duration = Duration::from_millis(100);

/// Who answers the agent's questions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// Everything is allowed.
    Given,
    /// The person at the terminal.
    Asked,
    /// Somebody else, with printed instructions.
    Elsewhere,
}

impl Consent {
    pub fn of(yes: bool, json: bool) -> Self {
        match (yes, json) {
            (true, _) => Consent::Given,
            (false, false) if terminal::is_attended() => Consent::Asked,
            _ => Consent::Elsewhere,
        }
    }
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
    attempt: AttemptId,
    screen: &'a mut Screen,
    consent: Consent,
    keyboard: Keyboard,
    signals: Signals,
    asks: Asks,
    typing: Typing,
    status: Option<Status>,
    /// Printed when the person leaves.
    farewell: Vec<Line>,
    stopping: Option<JoinHandle<Result<Value>>>,
}

impl<'a> Watch<'a> {
    pub fn new(
        client: &'a Client,
        attempt: AttemptId,
        screen: &'a mut Screen,
        consent: Consent,
    ) -> Result<Self> {
        Ok(Self {
            client,
            attempt,
            screen,
            keyboard: if consent == Consent::Asked { Keyboard::open() } else { Keyboard::default() },
            consent,
            signals: Signals::listen()?,
            asks: Asks::default(),
            typing: Typing::Nothing,
            status: None,
            farewell: Vec::new(),
            stopping: None,
        })
    }

    /// Prints these lines when the person leaves.
    pub fn with_farewell(self, farewell: Vec<Line>) -> Self {
        Self { farewell, ..self }
    }

    /// Adds a row with time and numbers below the transcript, if the terminal supports it.
    pub fn with_status(self, attempt: &Attempt, begun: Instant) -> Self {
        let wanted = matches!(self.screen, Screen::Text(_)) && terminal::can_rewrite();
        let status = wanted.then(|| Status::of(self.client, attempt, begun));
        Self { status, ..self }
    }

    pub fn screen(&mut self) -> &mut Screen {
        self.screen
    }

    /// Shows a run from its beginning to its end.
    pub async fn show(&mut self, run: &Process) -> Result<Watched> {
        let mut feed = Feed::new(self.client, run.log());
        self.screen.turn()?;
        self.asks.clear();
        let watched = self.follow(run, &mut feed).await;
        self.screen.status(None)?;
        watched
    }

    async fn follow(&mut self, run: &Process, feed: &mut Feed) -> Result<Watched> {
        loop {
            // Kept across all other events: if it restarted each second, it might never connect.
            let mut next = pin!(feed.next());
            let (mut lull, mut rested) = (pin!(tokio::time::sleep(LULL)), false);
            let step = loop {
                tokio::select! {
                    step = &mut next => break step?,
                    () = &mut lull, if !rested => {
                        self.screen.rest()?;
                        rested = true;
                    }
                    line = self.keyboard.next() => self.take_line(line).await?,
                    called = self.signals.next() => {
                        self.part(called)?;
                        return Ok(Watched::Left);
                    }
                    row = beat(&mut self.status) => self.screen.status(Some(row))?,
                    ended = joined(&mut self.stopping) => {
                        if let Err(error) = ended {
                            self.screen.lines(&[Line::new(Ink::Red, &format!("! cannot stop it: {error:#}"))])?;
                        }
                    }
                }
            };
            match step {
                Step::Changes(changes) => self.take(run, &changes).await?,
                Step::Lost => self.screen.note("the server went away; waiting for it")?,
                Step::Back => self.screen.note("the server is back")?,
                Step::Finished => return Ok(Watched::Ended),
            }
        }
    }

    /// The run once its end is recorded; `None` if the person does not wait for it.
    pub async fn settle(&mut self, run: &Process) -> Result<Option<Process>> {
        tokio::select! {
            settled = Process::settled(self.client, run.id) => settled.map(Some),
            _ = self.signals.next() => {
                // The terminal may already be gone; that is not a failure.
                let _ = self.say_farewell();
                Ok(None)
            }
        }
    }

    async fn take(&mut self, run: &Process, changes: &[PatchOp]) -> Result<()> {
        for change in changes {
            if !run.is_agent() {
                self.screen.chunk(run.id, change)?;
                continue;
            }
            let Some((index, entry)) = self.screen.entry(run.id, change)? else { continue };
            match self.asks.notice(index, &entry) {
                Change::None => {}
                Change::Asked(ask) => self.put(&ask).await?,
                Change::Settled { .. } if self.typing != Typing::Nothing => {
                    self.screen.clear_prompt(Answered::Elsewhere)?;
                    self.screen.note("answered elsewhere")?;
                    self.ask_next()?;
                }
                Change::Settled { .. } => {}
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
            Consent::Asked if self.typing != Typing::Nothing => Ok(()),
            Consent::Asked => self.ask_next(),
            Consent::Elsewhere => self.show_how_to_answer(ask),
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

    fn show_how_to_answer(&mut self, ask: &Ask) -> Result<()> {
        let token = self.client.curl_header();
        let address = format!("{}/api/approvals/{}/respond", self.client.base(), ask.approval);
        let command = format!(
            "  curl -s {address}{token} -H 'content-type: application/json' -d '{{\"approved\":true}}'"
        );
        let mut lines = question(&ask.entry);
        lines.push(Line::new(
            Ink::Plain,
            "  It is waiting. Answer on the board, or with (false and \"comment\" to refuse):",
        ));
        lines.push(Line::new(Ink::Plain, &command).whole());
        if let Screen::Json = self.screen {
            eprintln!("forge: the agent is waiting for an answer:\n{command}");
        }
        self.screen.part(&lines)
    }

    async fn take_line(&mut self, line: Option<String>) -> Result<()> {
        let Some(line) = line else {
            // The keyboard is gone; the question stays open.
            self.consent = Consent::Elsewhere;
            self.keyboard = Keyboard::default();
            self.drop_question()?;
            return match self.asks.first().cloned() {
                Some(ask) => self.show_how_to_answer(&ask),
                None => Ok(()),
            };
        };
        let typing = std::mem::replace(&mut self.typing, Typing::Nothing);
        if typing == Typing::Nothing {
            // Typed without a question: it cannot answer a later one.
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
                    Err(error) if kind_of(&error) == Some(Kind::NotFound) => {
                        tokio::time::sleep(ASKED_PAUSE).await
                    }
                    other => return other.map(|_| ()),
                }
            }
        };
        match tokio::time::timeout(ASKED_LIMIT, respond).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) if kind_of(&error) == Some(Kind::Conflict) => self.screen.note("already answered"),
            Ok(Err(error)) => self
                .screen
                .lines(&[Line::new(Ink::Red, &format!("! the answer was not accepted: {error:#}"))]),
            Err(_) => self.screen.lines(&[Line::new(Ink::Red, "! the server does not know this question")]),
        }
    }

    /// Asks the server to stop the run; its end arrives through the log.
    fn stop(&mut self) -> Result<()> {
        // What the status row says about Ctrl-C no longer applies.
        self.status = None;
        self.screen.status(None)?;
        self.drop_question()?;
        self.screen.note("stopping (Ctrl-C again leaves without waiting)")?;
        let (client, path) = (self.client.clone(), format!("/api/task-attempts/{}/stop", self.attempt));
        self.stopping = Some(tokio::spawn(async move { client.post(&path, &json!({})).await }));
        Ok(())
    }

    /// Withdraws the open question.
    fn drop_question(&mut self) -> Result<()> {
        self.typing = Typing::Nothing;
        self.screen.clear_prompt(Answered::Elsewhere)
    }
}

async fn beat(status: &mut Option<Status>) -> Line {
    match status {
        Some(status) => status.next().await,
        None => std::future::pending().await,
    }
}

/// The result of the request to stop, returned once.
async fn joined(stopping: &mut Option<JoinHandle<Result<Value>>>) -> Result<()> {
    let Some(task) = stopping else { return std::future::pending().await };
    let ended = task.await;
    *stopping = None;
    ended?.map(|_| ())
}
