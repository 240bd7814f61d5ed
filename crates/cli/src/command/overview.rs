//! `forge` without a command in a repository: its status, and possible next steps.
//!
//! Invariant: read-only. Without a terminal, outside a repository, or with a port or an address, `forge` still starts a
//! server.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::path::PathBuf;

use anyhow::{Context, Result};
use forge_git::Repo;
use forge_types::wire::PendingApproval;
use forge_types::{Attempt, AttemptStatus, ListedAttempt, Project, TaskId, TaskStatus, TaskSummary};

use super::{approve, list};
use crate::client::Client;
use crate::command::serve::block_on;
use crate::reference::{project_at, short};
use crate::settings::Env;
use crate::terminal::{self, say, say_fact};
use crate::transcript::{Ink, Line};

/// How many attempts are shown.
const NEWEST: usize = 5;

/// Whether `forge` without arguments shows the overview here.
pub fn applies() -> bool {
    let env = Env::load();
    let wants_server = ["BACKEND_PORT", "PORT", "HOST"].iter().any(|name| env.get(name).is_some());
    // `cargo run` in Forge's own repository starts a server, too.
    let wants_server = wants_server || std::env::var_os("CARGO_MANIFEST_DIR").is_some();
    let is_alone = std::env::args_os().len() == 1;
    let inside =
        || std::env::current_dir().is_ok_and(|dir| dir.ancestors().any(|dir| dir.join(".git").exists()));
    is_alone && !wants_server && std::io::stdout().is_terminal() && inside()
}

pub fn run() -> Result<()> {
    block_on(async {
        let here = Here::look().await?;
        here.print();
        Ok(())
    })
}

/// The repository of the current directory, and what the server knows about it.
struct Here {
    path: PathBuf,
    branch: Option<String>,
    server: Option<Server>,
}

struct Server {
    client: Client,
    project: Option<Project>,
    /// Newest first.
    attempts: Vec<ListedAttempt>,
    questions: Vec<PendingApproval>,
    /// Tasks whose work is waiting for review.
    in_review: Vec<TaskId>,
}

impl Here {
    async fn look() -> Result<Self> {
        let dir = std::env::current_dir().context("the current directory does not exist")?;
        let repo = Repo::open(&dir).await?;
        let client = Client::find()?;
        let server = match client.ready().await {
            Some(_) => Some(Server::look(client, &dir).await?),
            None => None,
        };
        Ok(Self { path: repo.path().to_owned(), branch: repo.current_branch().await?, server })
    }

    fn print(&self) {
        let branch = self.branch.as_deref().unwrap_or("no branch");
        say_fact("here", &format!("{} on {branch}", self.path.display()));
        match &self.server {
            Some(server) => server.print(),
            None => say_fact("server", "not running"),
        }
        terminal::print("\n");
        for (command, what) in self.next_steps() {
            say(&Line::new(Ink::Bold, &format!("  {command:28}")).and(Ink::Dim, what));
        }
    }

    /// The most useful step comes first.
    fn next_steps(&self) -> Vec<(String, &'static str)> {
        let mut steps = Vec::new();
        if let Some(server) = &self.server {
            if !server.questions.is_empty() {
                steps.push(("forge approve".to_owned(), "answer the agents that are waiting for you"));
            }
            let attempts = || server.attempts.iter().map(|listed| &listed.attempt);
            if let Some(attempt) = attempts().find(|attempt| attempt.status == AttemptStatus::Running) {
                steps.push((format!("forge view {} --follow", short(attempt.id)), "watch it work"));
            }
            let done = |attempt: &&Attempt| {
                attempt.status == AttemptStatus::Completed && server.in_review.contains(&attempt.task_id)
            };
            if let Some(attempt) = attempts().find(done) {
                steps.push((format!("forge diff {}", short(attempt.id)), "see what it changed"));
                steps.push((format!("forge merge {}", short(attempt.id)), "land it"));
            }
        }
        steps.push(("forge run \"…\"".to_owned(), "give an agent a task here, and watch it work"));
        match &self.server {
            Some(_) => steps.push(("forge tui".to_owned(), "see everything on a dashboard")),
            None => {
                steps.push(("forge serve".to_owned(), "start the server with its board"));
                steps.push(("forge demo".to_owned(), "see the whole product in a minute"));
                steps.push(("forge doctor".to_owned(), "see which agents are ready"));
            }
        }
        steps.push(("forge help".to_owned(), "all commands"));
        steps
    }
}

impl Server {
    async fn look(client: Client, dir: &std::path::Path) -> Result<Self> {
        let Some(project) = project_at(&client, dir).await? else {
            let (attempts, questions, in_review) = Default::default();
            return Ok(Self { client, project: None, attempts, questions, in_review });
        };
        let of_project = format!("/api/task-attempts?project_id={}", project.id);
        let tasks = format!("/api/projects/{}/tasks", project.id);
        let (mut attempts, tasks, questions) = tokio::try_join!(
            client.get::<Vec<ListedAttempt>>(&of_project),
            client.get::<Vec<TaskSummary>>(&tasks),
            approve::questions(&client),
        )?;
        attempts.truncate(NEWEST);
        let in_review =
            tasks.into_iter().filter(|row| row.task.status == TaskStatus::InReview).map(|row| row.task.id);
        Ok(Self { client, project: Some(project), attempts, questions, in_review: in_review.collect() })
    }

    fn print(&self) {
        say_fact("server", self.client.base());
        let Some(project) = &self.project else {
            return say_fact("project", "none yet; the first run adds it");
        };
        say_fact("project", &format!("{} ({}/projects/{})", project.name, self.client.base(), project.id));
        if !self.attempts.is_empty() {
            terminal::print("\n");
            list::print_attempts(&self.attempts, &HashMap::new());
        }
        if !self.questions.is_empty() {
            terminal::print("\n");
            approve::print_questions(&self.questions);
        }
    }
}
