//! `forge task`: the tasks of a project.

mod edit;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use forge_types::wire::StartedTask;
use forge_types::{Attempt, ListedAttempt, Millis, ProfileId, Task, TaskId};
use serde_json::{Value, json};

use crate::client::Client;
use crate::command::list::{self, Choice, ink};
use crate::command::run::usual_profile;
use crate::command::serve::block_on;
use crate::exit::{self, Misused};
use crate::figures;
use crate::json;
use crate::reference::{self, Deed, Scope, short};
use crate::terminal::{self, confirm, say, say_fact};
use crate::transcript::{Ink, Line};

#[derive(Subcommand)]
#[command(
    after_help = "Examples:\n  forge task add \"Fix the login\" --start\n  forge task list --status todo\n  \
                        forge task done \"Fix the login\""
)]
pub enum Command {
    /// Add a task, and optionally start an agent on it
    #[command(
        after_help = "Examples:\n  forge task add \"Fix the login\" -d \"It fails for long names\" -l bug\n  \
                            forge task add \"Fix the login\" --start -x CODEX"
    )]
    Add(NewTask),
    /// List the tasks of this repository's project
    #[command(after_help = "Examples:\n  forge task list\n  forge task list --all --status inreview")]
    List(Choice),
    /// Show one task with its attempts
    #[command(after_help = "Examples:\n  forge task show a1b2\n  forge task show \"Fix the login\" --json")]
    Show(One),
    /// Change the title, description, status or labels
    #[command(after_help = "Examples:\n  forge task edit a1b2 --title \"Fix the login for good\"\n  \
                            forge task edit a1b2 -f task.md --status todo")]
    Edit(edit::Change),
    /// Start an agent on a task
    #[command(
        after_help = "Examples:\n  forge task start a1b2\n  forge task start \"Fix the login\" -x CLAUDE_CODE:PLAN -b main"
    )]
    Start {
        /// The task: id or a prefix of it, or title
        task: String,
        #[command(flatten)]
        scope: Scope,
        #[command(flatten)]
        how: How,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove a task; its branches are kept
    #[command(after_help = "Examples:\n  forge task rm a1b2\n  forge task rm a1b2 --yes")]
    Rm {
        #[command(flatten)]
        one: One,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
    /// Mark a task as done
    #[command(after_help = "Examples:\n  forge task done a1b2\n  forge task done \"Fix the login\"")]
    Done(One),
    /// Mark a task as cancelled
    #[command(after_help = "Examples:\n  forge task cancel a1b2\n  forge task cancel \"Fix the login\"")]
    Cancel(One),
}

#[derive(clap::Args)]
pub struct One {
    /// The task: id or a prefix of it, title, or one of its attempts
    task: String,
    #[command(flatten)]
    scope: Scope,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// How to start an attempt.
#[derive(clap::Args)]
pub struct How {
    /// The agent and its variant, e.g. CLAUDE_CODE or CODEX:PLAN [default: from the settings]
    #[arg(short = 'x', long, value_name = "EXECUTOR[:VARIANT]")]
    executor: Option<ProfileId>,
    /// Branch to start from and to land on [default: the project's]
    #[arg(short, long, value_name = "BRANCH")]
    base: Option<String>,
}

/// The description of a task.
#[derive(clap::Args)]
pub struct Words {
    /// Description, which the agent gets below the title
    #[arg(short, long)]
    description: Option<String>,
    /// File with the description; `-` is standard input
    #[arg(short, long, conflicts_with = "description")]
    file: Option<PathBuf>,
}

impl Words {
    fn read(self) -> Result<Option<String>> {
        let Some(file) = self.file else { return Ok(self.description) };
        if file.as_os_str() == "-" {
            return Ok(Some(
                std::io::read_to_string(std::io::stdin()).context("cannot read the description")?,
            ));
        }
        let text = std::fs::read_to_string(&file);
        text.map(Some).map_err(|cause| exit::unreadable("--file: ", &file, &cause))
    }
}

#[derive(clap::Args)]
pub struct NewTask {
    /// What to do, in one line
    title: String,
    #[command(flatten)]
    words: Words,
    /// A label; may be repeated
    #[arg(short, long = "label", value_name = "LABEL")]
    labels: Vec<String>,
    /// Name, id or path of the project [default: that of the current directory]
    #[arg(short, long)]
    project: Option<String>,
    /// Start an agent on it immediately
    #[arg(long)]
    start: bool,
    #[command(flatten)]
    how: How,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(command: Command) -> Result<()> {
    block_on(async {
        let client = Client::find()?;
        match command {
            Command::Add(new) => add(&client, new).await,
            Command::List(choice) => list::list_tasks(&client, choice).await,
            Command::Show(one) => show(&client, &one).await,
            Command::Edit(change) => edit::edit(&client, change).await,
            Command::Start { task, scope, how, json } => {
                let (task, project) = reference::task(&client, &task, &scope, Deed::Change).await?;
                let attempt = start(&client, task.id, &how).await?;
                report_start(&attempt, &project.name, json);
                Ok(())
            }
            Command::Rm { one, yes } => remove(&client, &one, yes).await,
            Command::Done(one) => edit::mark(&client, &one, "done").await,
            Command::Cancel(one) => edit::mark(&client, &one, "cancelled").await,
        }
    })
}

async fn add(client: &Client, new: NewTask) -> Result<()> {
    let project = match &new.project {
        Some(named) => reference::project(client, named).await?,
        None => reference::here_or_refuse(client).await?,
    };
    if !new.start && (new.how.executor.is_some() || new.how.base.is_some()) {
        return Err(Misused("--executor and --base need --start".to_owned()).into());
    }
    let body = json!({
        "project_id": project.id,
        "title": new.title,
        "description": new.words.read()?,
        "labels": new.labels,
    });
    let task: Task = match new.start {
        false => client.post("/api/tasks", &body).await?,
        true => {
            let profile = new.how.profile(client).await?;
            let body = json!({"task": body, "executor_profile_id": profile, "base_branch": new.how.base});
            // One request, so that a refused start leaves no task behind.
            let started: StartedTask = client.post("/api/tasks/create-and-start", &body).await?;
            report_start(&started.task_attempt, &project.name, new.json);
            return Ok(());
        }
    };
    if new.json {
        json::print(&task);
        return Ok(());
    }
    let id = short(task.id);
    say(&Line::new(Ink::Green, "added ").and(Ink::Plain, &format!("{id} {} to {}", new.title, project.name)));
    say(&Line::new(Ink::Dim, &format!("start an agent with: forge task start {id}")));
    Ok(())
}

impl How {
    async fn profile(&self, client: &Client) -> Result<ProfileId> {
        match &self.executor {
            Some(profile) => Ok(profile.clone()),
            None => usual_profile(client).await,
        }
    }
}

async fn start(client: &Client, task: TaskId, how: &How) -> Result<Attempt> {
    let profile = how.profile(client).await?;
    let body = json!({"task_id": task, "executor_profile_id": profile, "base_branch": how.base});
    client.post("/api/task-attempts", &body).await
}

fn report_start(attempt: &Attempt, of: &str, json: bool) {
    if json {
        json::print(attempt);
        return;
    }
    let Attempt { executor_profile_id: profile, branch, id, .. } = attempt;
    let what = format!("{profile} on {branch} of {of} ({})", short(id));
    say(&Line::new(Ink::Green, "started ").and(Ink::Plain, &what));
}

async fn show(client: &Client, one: &One) -> Result<()> {
    let (task, project) = reference::task(client, &one.task, &one.scope, Deed::Look).await?;
    let attempts: Vec<ListedAttempt> = client.get(&format!("/api/task-attempts?task_id={}", task.id)).await?;
    if one.json {
        let (task, attempts) = (json::complete(&task), json::complete(&attempts));
        terminal::print_json(&json!({"task": task, "attempts": attempts}));
        return Ok(());
    }
    say(&Line::new(Ink::Bold, &short(task.id)).and(Ink::Plain, " ").and(Ink::Plain, &task.title).whole());
    let status = task.status.as_str();
    say(&Line::new(Ink::Dim, &format!("{:<10}", "status")).and(ink(status), status));
    say_fact("project", &project.name);
    say_fact("age", &figures::age(task.created_at, Millis::now()));
    if !task.labels.is_empty() {
        say_fact("labels", &task.labels.join(", "));
    }
    let description = task.description.as_deref().unwrap_or_default().trim();
    if !description.is_empty() {
        terminal::print("\n");
        description.lines().for_each(|line| say(&Line::new(Ink::Plain, line).whole()));
    }
    if !attempts.is_empty() {
        terminal::print("\n");
        list::print_attempts(&attempts, &Default::default());
    }
    Ok(())
}

async fn remove(client: &Client, one: &One, yes: bool) -> Result<()> {
    let (task, project) = reference::task(client, &one.task, &one.scope, Deed::Change).await?;
    let question = format!("Remove the task '{}' of {} with its attempts?", task.title, project.name);
    if !yes && !confirm(&question)? {
        bail!("nothing was removed");
    }
    client.delete::<Value>(&format!("/api/tasks/{}", task.id)).await?;
    if one.json {
        terminal::print_json(&json!({"task_id": task.id, "title": task.title, "project": project.name}));
        return Ok(());
    }
    let removed = format!("{} {} of {}", short(task.id), task.title, project.name);
    say(&Line::new(Ink::Yellow, "removed ").and(Ink::Plain, &removed));
    say(&Line::new(
        Ink::Plain,
        "its branches are kept; worktrees are saved under refs/forge/keep and moved to the trash",
    )
    .whole());
    Ok(())
}
