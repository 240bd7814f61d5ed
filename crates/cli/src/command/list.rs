//! `forge list`: attempts, tasks, projects and agents, newest first.
//!
//! Invariant: a list takes one request per kind, not one per row.

mod agents;

use std::cmp::Reverse;
use std::collections::HashMap;

use anyhow::Result;
use forge_types::{ListedAttempt, Millis, Project, ProjectId, TaskStatus, TaskSummary};
use schemars::JsonSchema;
use serde::Serialize;

use crate::client::Client;
use crate::command::serve::block_on;
use crate::exit::Misused;
use crate::figures;
use crate::json;
use crate::reference::{self, short};
use crate::table::Table;
use crate::transcript::Ink;

const ATTEMPT_STATUSES: [&str; 5] = ["pending", "running", "completed", "failed", "stopped"];

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  forge list\n  forge list --status running --all\n  forge list tasks --json\n  \
                        forge list agents"
)]
pub struct Flags {
    #[arg(value_enum, default_value_t = What::Attempts)]
    what: What,
    #[command(flatten)]
    choice: Choice,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum What {
    Attempts,
    Tasks,
    Projects,
    Agents,
}

/// Which rows, and how they are printed.
#[derive(clap::Args)]
pub struct Choice {
    /// List all projects, not only this repository's
    #[arg(short, long)]
    all: bool,
    /// List only rows with this status, e.g. running or inreview
    #[arg(short, long)]
    status: Option<String>,
    /// Limit; 0 for no limit
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Choice {
    /// Everything.
    pub fn whole(json: bool) -> Self {
        Self { all: true, status: None, limit: 0, json }
    }

    /// The project to list; `None` means all of them.
    async fn project(&self, client: &Client) -> Result<Option<Project>> {
        if self.all {
            return Ok(None);
        }
        let here = reference::project_here(client).await?;
        if here.is_none() {
            eprintln!("this directory does not belong to a Forge project; showing all projects");
        }
        Ok(here)
    }

    /// Shows the first matching rows, and how many more there are.
    fn show<T: Serialize + JsonSchema>(&self, mut rows: Vec<T>, print: impl FnOnce(Vec<T>)) {
        let limit = if self.limit == 0 { usize::MAX } else { self.limit };
        let more = rows.len().saturating_sub(limit);
        rows.truncate(limit);
        match self.json {
            true => json::print(&rows),
            false => print(rows),
        }
        if more > 0 {
            eprintln!("… {more} more; --limit 0 shows all");
        }
    }

    fn wants(&self, status: impl Serialize) -> bool {
        self.status.as_ref().is_none_or(|wanted| *wanted == json::word(&status))
    }
}

pub fn run(flags: Flags) -> Result<()> {
    block_on(async {
        let client = Client::find()?;
        match flags.what {
            What::Attempts => list_attempts(&client, flags.choice).await,
            What::Tasks => list_tasks(&client, flags.choice).await,
            What::Projects => list_projects(&client, &flags.choice).await,
            What::Agents => agents::list(&client, &flags.choice).await,
        }
    })
}

async fn list_attempts(client: &Client, choice: Choice) -> Result<()> {
    if let Some(status) = choice.status.as_deref().filter(|status| !ATTEMPT_STATUSES.contains(status)) {
        let allowed = ATTEMPT_STATUSES.join(", ");
        return Err(
            Misused(format!("--status: '{status}' is not a status of attempts; allowed: {allowed}")).into()
        );
    }
    let project = choice.project(client).await?;
    let path = match &project {
        Some(project) => format!("/api/task-attempts?project_id={}", project.id),
        None => "/api/task-attempts".to_owned(),
    };
    let mut rows: Vec<ListedAttempt> = client.get(&path).await?;
    rows.retain(|row| choice.wants(row.attempt.status));
    let names = if project.is_none() { names(client).await? } else { HashMap::new() };
    choice.show(rows, |rows| print_attempts(&rows, &names));
    Ok(())
}

/// With `names`, each row names its project.
pub fn print_attempts(attempts: &[ListedAttempt], names: &HashMap<ProjectId, String>) {
    let mut head = vec!["ID", "STATUS", "AGENT", "AGE", "COST", "TITLE", "BRANCH"];
    if !names.is_empty() {
        head.insert(1, "PROJECT");
    }
    let mut table =
        Table::new(&head).flexible(&["TITLE", "BRANCH", "AGENT", "PROJECT"]).right(&["AGE", "COST"]);
    let now = Millis::now();
    for ListedAttempt { attempt, task_title } in attempts {
        let status = json::word(&attempt.status);
        let cost = attempt.cost_usd.map_or_else(|| "-".to_owned(), |cost| figures::money(cost.usd()));
        let mut row = vec![
            (Ink::Bold, short(attempt.id)),
            (ink(&status), status),
            (Ink::Plain, attempt.executor_profile_id.to_string()),
            (Ink::Plain, figures::age(attempt.created_at, now)),
            (Ink::Plain, cost),
            (Ink::Plain, task_title.clone()),
            (Ink::Cyan, attempt.branch.clone()),
        ];
        if !names.is_empty() {
            row.insert(1, (Ink::Plain, name_of(names, attempt.project_id)));
        }
        table.row(row);
    }
    table.print();
}

pub async fn list_tasks(client: &Client, mut choice: Choice) -> Result<()> {
    if let Some(status) = &mut choice.status {
        let known: TaskStatus = status.parse().map_err(|wrong| Misused(format!("--status: {wrong}")))?;
        *status = known.to_string();
    }
    let project = choice.project(client).await?;
    let mut rows = reference::tasks(client, project.as_ref()).await?;
    rows.retain(|row| choice.wants(row.task.status));
    // Each project's rows come newest first.
    rows.sort_by_key(|row| Reverse(row.task.created_at));
    let names = if project.is_none() { names(client).await? } else { HashMap::new() };
    choice.show(rows, |rows| print_tasks(rows, &names));
    Ok(())
}

fn print_tasks(tasks: Vec<TaskSummary>, names: &HashMap<ProjectId, String>) {
    let mut head = vec!["ID", "STATUS", "ATTEMPTS", "AGENT", "AGE", "TITLE"];
    if !names.is_empty() {
        head.insert(1, "PROJECT");
    }
    let has_labels = tasks.iter().any(|row| !row.task.labels.is_empty());
    if has_labels {
        head.push("LABELS");
    }
    let mut table =
        Table::new(&head).flexible(&["TITLE", "LABELS", "AGENT", "PROJECT"]).right(&["ATTEMPTS", "AGE"]);
    let now = Millis::now();
    for TaskSummary { task, executor, attempt_count, .. } in tasks {
        let mut row = vec![
            (Ink::Bold, short(task.id)),
            (ink(task.status.as_str()), task.status.to_string()),
            (Ink::Plain, attempt_count.to_string()),
            (Ink::Plain, executor),
            (Ink::Plain, figures::age(task.created_at, now)),
            (Ink::Plain, task.title),
        ];
        if has_labels {
            row.push((Ink::Dim, task.labels.join(", ")));
        }
        if !names.is_empty() {
            row.insert(1, (Ink::Plain, name_of(names, task.project_id)));
        }
        table.row(row);
    }
    table.print();
}

pub async fn list_projects(client: &Client, choice: &Choice) -> Result<()> {
    if choice.status.is_some() {
        return Err(Misused("--status: projects have no status; leave it out".to_owned()).into());
    }
    choice.show(client.get("/api/projects").await?, |rows: Vec<Project>| {
        let mut table = Table::new(&["ID", "NAME", "PATH"]).flexible(&["NAME", "PATH"]);
        for project in rows {
            table.row(vec![
                (Ink::Bold, short(project.id)),
                (Ink::Plain, project.name),
                (Ink::Cyan, project.git_repo_path),
            ]);
        }
        table.print();
    });
    Ok(())
}

/// Project names by id.
pub async fn names(client: &Client) -> Result<HashMap<ProjectId, String>> {
    let projects: Vec<Project> = client.get("/api/projects").await?;
    Ok(projects.into_iter().map(|project| (project.id, project.name)).collect())
}

fn name_of(names: &HashMap<ProjectId, String>, id: ProjectId) -> String {
    names.get(&id).cloned().unwrap_or_else(|| short(id))
}

/// The ink of a status of an attempt or a task.
pub fn ink(status: &str) -> Ink {
    match status {
        "running" | "inprogress" => Ink::Cyan,
        "completed" | "done" => Ink::Green,
        "failed" => Ink::Red,
        "stopped" | "killed" | "cancelled" | "inreview" => Ink::Yellow,
        _ => Ink::Dim,
    }
}
