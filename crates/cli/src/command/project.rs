//! `forge project`: the repositories that Forge works in.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Subcommand;
use forge_git::{GitError, Repo};
use forge_types::{Budget, Project, RegisteredProject};
use serde_json::{Value, json};

use crate::client::Client;
use crate::command::list::{self, Choice};
use crate::command::serve::block_on;
use crate::figures;
use crate::first_commit;
use crate::json;
use crate::reference::{self, NotFound, short};
use crate::terminal::{self, confirm, say, say_fact};
use crate::transcript::{Ink, Line};

#[derive(Subcommand)]
#[command(
    after_help = "Examples:\n  forge project add\n  forge project show shop\n  forge project rm shop --yes"
)]
pub enum Command {
    /// Add a repository as a project
    #[command(after_help = "Examples:\n  forge project add\n  \
                            forge project add ../shop --name shop --setup-script \"npm ci\"")]
    Add(NewProject),
    /// List all projects
    #[command(after_help = "Examples:\n  forge project list\n  forge project list --json")]
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one project with its scripts
    #[command(after_help = "Examples:\n  forge project show\n  forge project show shop --json")]
    Show {
        /// Name, id or path [default: the current directory's project]
        project: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove a project; its repository is not touched
    #[command(after_help = "Examples:\n  forge project rm shop\n  forge project rm shop --yes")]
    Rm {
        /// Name, id or path
        project: String,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(clap::Args)]
pub struct NewProject {
    /// Path in the repository
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Name on the board [default: the name of the folder]
    #[arg(short, long)]
    name: Option<String>,
    /// Script to run in each new worktree, before the agent
    #[arg(long, value_name = "SCRIPT")]
    setup_script: Option<String>,
    /// Script to run after the agent
    #[arg(long, value_name = "SCRIPT")]
    cleanup_script: Option<String>,
    /// Script that starts the dev server
    #[arg(long, value_name = "SCRIPT")]
    dev_script: Option<String>,
    /// Files to copy into each new worktree, separated by commas
    #[arg(long, value_name = "FILES")]
    copy_files: Option<String>,
    /// Branch that attempts start from and land on
    #[arg(long, value_name = "BRANCH")]
    base: Option<String>,
    /// Maximum cost of all its runs together, in dollars
    #[arg(long, value_name = "USD")]
    max_cost_usd: Option<f64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(command: Command) -> Result<()> {
    block_on(async {
        let client = Client::find()?;
        match command {
            Command::Add(new) => add(&client, new).await,
            Command::List { json } => list::list_projects(&client, &Choice::whole(json)).await,
            Command::Show { project, json } => show(&client, project.as_deref(), json).await,
            Command::Rm { project, yes, json } => remove(&client, &project, yes, json).await,
        }
    })
}

async fn add(client: &Client, new: NewProject) -> Result<()> {
    let path = std::path::absolute(&new.path)?;
    let repo = match Repo::open(&path).await {
        Ok(repo) => repo,
        Err(GitError::NoRepository(_)) => {
            let text = match path.exists() {
                true => format!("{} is not in a git repository; create one with `git init`", path.display()),
                false => format!("{} does not exist", path.display()),
            };
            return Err(NotFound(text).into());
        }
        Err(error) => return Err(error.into()),
    };
    let root = std::fs::canonicalize(repo.path()).unwrap_or_else(|_| repo.path().to_owned());
    let name = new.name.unwrap_or_else(|| folder(&root));
    let body = json!({
        "name": name, "git_repo_path": root, "use_existing_repo": true, "setup_script": new.setup_script,
        "cleanup_script": new.cleanup_script, "dev_script": new.dev_script, "copy_files": new.copy_files,
        "default_base_branch": new.base, "max_cost_usd": new.max_cost_usd,
    });
    first_commit::ask(&repo).await?;
    let RegisteredProject { project, first_commit } = client.post("/api/projects", &body).await?;
    first_commit::report(first_commit.as_deref());
    if new.json {
        json::print(&RegisteredProject { project, first_commit });
        return Ok(());
    }
    let id = short(project.id);
    say(&Line::new(Ink::Green, "added ")
        .and(Ink::Plain, &format!("{name} ({id}) at {}", root.display()))
        .whole());
    Ok(())
}

fn folder(root: &Path) -> String {
    root.file_name().map_or_else(|| root.to_string_lossy(), |name| name.to_string_lossy()).into_owned()
}

async fn show(client: &Client, named: Option<&str>, json: bool) -> Result<()> {
    let project = match named {
        Some(named) => reference::project(client, named).await?,
        None => reference::here_or_refuse(client).await?,
    };
    if json {
        json::print(&project);
        return Ok(());
    }
    say(&Line::new(Ink::Bold, &short(project.id)).and(Ink::Plain, " ").and(Ink::Plain, &project.name));
    say_fact("path", &project.git_repo_path);
    for (name, text) in [
        ("base", &project.default_base_branch),
        ("setup", &project.setup_script),
        ("cleanup", &project.cleanup_script),
        ("dev", &project.dev_script),
        ("copies", &project.copy_files),
    ] {
        if let Some(text) = text.as_deref().filter(|text| !text.is_empty()) {
            say_fact(name, text);
        }
    }
    if let Some(Budget(limit)) = project.max_cost_usd {
        say_fact("limit", &figures::money(limit.usd()));
    }
    say_fact("board", &format!("{}/projects/{}/tasks", client.base(), project.id));
    Ok(())
}

async fn remove(client: &Client, named: &str, yes: bool, json: bool) -> Result<()> {
    let project = reference::project(client, named).await?;
    let Project { id, name, git_repo_path, .. } = &project;
    let tasks = reference::tasks(client, Some(&project)).await?;
    let question = format!("Remove the project {name} with its {}?", figures::count(tasks.len(), "task"));
    if !yes && !confirm(&question)? {
        bail!("nothing was removed");
    }
    client.delete::<Value>(&format!("/api/projects/{id}")).await?;
    if json {
        terminal::print_json(&json!({"project_id": id, "name": name, "git_repo_path": git_repo_path}));
        return Ok(());
    }
    let removed = format!("{name} with its {} and their logs", figures::count(tasks.len(), "task"));
    say(&Line::new(Ink::Yellow, "removed ").and(Ink::Plain, &removed).whole());
    let kept = format!(
        "{git_repo_path} and all branches are kept; worktrees are saved under refs/forge/keep there and moved to the trash"
    );
    say(&Line::new(Ink::Plain, &kept).whole());
    Ok(())
}
