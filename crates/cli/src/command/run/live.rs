//! A run that has started: shown live to its result, or left in the background.
//!
//! Invariant: the exit code is the run's: 0 completed, 1 failed, 130 stopped or left. In the background it is 0 once
//! the run has started.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use forge_types::{Attempt, AttemptId, Project, RunReason, RunStatus};
use serde_json::{Map, Value, json};

use super::summary::{Landing, Summary};
use crate::client::Client;
use crate::exit::Exit;
use crate::json;
use crate::process::Process;
use crate::reference::{self, short};
use crate::transcript::{Ink, Line};
use crate::watch::{Consent, Screen, Watch, Watched};

/// A run that has started.
pub struct Begun {
    pub attempt: Attempt,
    /// Whose it is.
    pub project: Project,
    /// The branch that got an empty first commit, if the project is new and its repository was empty.
    pub first_commit: Option<String>,
    /// The first of its runs to show.
    pub run: Process,
    /// What the user may not have expected.
    pub notes: Vec<String>,
    /// When the person started it.
    pub since: Instant,
}

/// How a run is shown.
#[derive(clap::Args)]
pub struct Manner {
    /// Start it, print where to find it, and exit
    #[arg(short, long)]
    pub background: bool,
    /// Print the entries as JSON lines
    #[arg(long)]
    pub json: bool,
    /// Allow everything the agent asks for
    #[arg(short, long)]
    pub yes: bool,
}

impl Begun {
    pub async fn report(self, client: &Client, manner: &Manner, landing: Landing) -> Result<ExitCode> {
        match manner.background {
            true => self.leave(client, manner),
            false => self.watch(client, manner, landing).await,
        }
    }

    async fn watch(self, client: &Client, manner: &Manner, landing: Landing) -> Result<ExitCode> {
        let id = self.attempt.id;
        let mut screen = if manner.json { Screen::Json } else { Screen::text() };
        screen.object(&Value::Object(self.object([("type", "attempt".into())])))?;
        self.greet(&mut screen)?;
        let mut farewell = vec![Line::new(Ink::Yellow, "leaving").and(Ink::Plain, "; the agent continues")];
        farewell.extend(self.ways_back());
        let consent = Consent::of(manner.yes, manner.json);
        let watch = Watch::new(client, id, &mut screen, consent)?;
        let mut watch = watch.with_farewell(farewell).with_status(&self.attempt, self.since);
        let Some(last) = show_all(client, id, self.run.clone(), &mut watch).await? else {
            return Ok(Exit::Stopped.into());
        };
        drop(watch);
        let summary = Summary::gather(client, id, &last, self.since.elapsed(), landing).await?;
        screen.object(&summary.object())?;
        screen.part(&summary.lines())?;
        Ok(match last.status {
            RunStatus::Completed => ExitCode::SUCCESS,
            RunStatus::Killed => Exit::Stopped.into(),
            _ => Exit::Failed.into(),
        })
    }

    /// Prints where the run is and how to come back to it.
    fn leave(self, client: &Client, manner: &Manner) -> Result<ExitCode> {
        let url = self.page(client);
        if manner.json {
            let more = [("execution_process_id", json!(self.run.id)), ("url", json!(url))];
            println!("{:#}", Value::Object(self.object(more)));
            return Ok(ExitCode::SUCCESS);
        }
        let mut screen = Screen::text();
        self.greet(&mut screen)?;
        let mut lines = vec![row("attempt", &self.attempt.id.to_string()), row("board", &url)];
        lines.extend(self.ways_back());
        screen.lines(&lines)?;
        Ok(ExitCode::SUCCESS)
    }

    /// The attempt for programs, its project, the branch of the first commit if one was made, and `more`.
    fn object<const N: usize>(&self, more: [(&str, Value); N]) -> Map<String, Value> {
        let known = [
            ("attempt", json::complete(&self.attempt)),
            ("project", json!(self.project.name)),
            ("first_commit", json!(self.first_commit)),
        ];
        known.into_iter().chain(more).map(|(key, value)| (key.to_owned(), value)).collect()
    }

    fn greet(&self, screen: &mut Screen) -> Result<()> {
        for note in &self.notes {
            screen.note(note)?;
        }
        let Attempt { executor, branch, worktree_path, .. } = &self.attempt;
        let agent = Line::new(Ink::Bold, executor).and(Ink::Plain, " on ").and(Ink::Cyan, branch);
        let agent = agent.and(Ink::Plain, &format!(" of {}", self.project.name));
        let place = worktree_path.as_deref().unwrap_or_default();
        screen.lines(&[agent, Line::new(Ink::Dim, &format!("· {place}")).whole()])
    }

    /// How to view, continue and stop it.
    fn ways_back(&self) -> Vec<Line> {
        let id = short(self.attempt.id);
        let ways = [
            ("view", format!("forge view {id}")),
            ("continue", format!("forge resume {id} \"…\"")),
            ("stop", format!("forge stop {id}")),
        ];
        ways.iter().map(|(name, command)| row(name, command)).collect()
    }

    /// The attempt's place on the board.
    fn page(&self, client: &Client) -> String {
        format!("{}?view=diffs", reference::page(client, &self.attempt))
    }
}

fn row(name: &str, value: &str) -> Line {
    Line::new(Ink::Dim, &format!("  {name:9}")).and(Ink::Plain, value).whole()
}

/// Shows a run and those that follow from it: setup script, agent, cleanup script. Returns the one that counts, or
/// `None` when the person left.
async fn show_all(
    client: &Client,
    attempt: AttemptId,
    first: Process,
    watch: &mut Watch<'_>,
) -> Result<Option<Process>> {
    let (mut run, mut counted) = (first, None);
    loop {
        if !run.is_agent() {
            let name = run.name();
            watch.screen().script(Line::new(Ink::Cyan, name))?;
        }
        if watch.show(&run).await? == Watched::Left {
            return Ok(None);
        }
        let Some(ended) = watch.settle(&run).await? else { return Ok(None) };
        if !ended.is_agent() && ended.status == RunStatus::Failed {
            let code = ended.exit_code.map_or_else(|| "failed".to_owned(), |code| format!("exit {code}"));
            watch.screen().script(Line::new(Ink::Red, &format!("  {code}")))?;
        }
        let next = match ended.status {
            RunStatus::Completed => ended.next(client, attempt).await?,
            _ => None,
        };
        // A cleanup script that fails does not undo what the agent did.
        if counted.is_none() || ended.run_reason != RunReason::CleanupScript {
            counted = Some(ended);
        }
        match next {
            Some(next) => run = next,
            None => return Ok(counted),
        }
    }
}
