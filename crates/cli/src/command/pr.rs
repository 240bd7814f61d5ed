//! `forge pr`: opens a pull request for an attempt, or attaches an existing one.

use anyhow::{Error, Result};
use forge_types::wire::AttachedPullRequest;
use forge_types::{Attempt, ErrorCode, Task};
use serde_json::json;

use crate::client::{self, Client};
use crate::command::serve::block_on;
use crate::reference::{Deed, Meant, NotFound, Subject, short};
use crate::terminal;

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  forge pr @last\n  forge pr a1b2 --title \"Fix the login\" --base develop --web\n  \
                        forge pr a1b2 --attach 17"
)]
pub struct Flags {
    #[command(flatten)]
    subject: Subject,
    /// Title [default: the task's]
    #[arg(short, long)]
    title: Option<String>,
    /// Description [default: the task's]
    #[arg(short, long)]
    body: Option<String>,
    /// Branch to merge into [default: the attempt's target]
    #[arg(long, value_name = "BRANCH")]
    base: Option<String>,
    /// Attach the existing pull request with this number from the branch, instead of opening one
    #[arg(long, value_name = "N", conflicts_with_all = ["title", "body", "base"])]
    attach: Option<i64>,
    /// Open its page in the browser
    #[arg(short, long)]
    web: bool,
}

pub fn run(flags: Flags) -> Result<()> {
    block_on(async {
        let (client, Meant { attempt, project }) = flags.subject.find(Deed::Change).await?;
        let url = match flags.attach {
            Some(number) => attach(&client, &attempt, number).await?,
            None => open(&client, &attempt, &flags).await?,
        };
        match flags.subject.json {
            true => {
                terminal::print_json(&json!({"attempt_id": attempt.id, "url": url, "project": project.name}))
            }
            false => {
                // Standard output is only the URL, for scripts.
                eprintln!("pull request of {} in {}:", short(attempt.id), project.name);
                terminal::print(&format!("{url}\n"));
            }
        }
        if flags.web {
            forge_run::open_page(&url);
        }
        Ok(())
    })
}

async fn open(client: &Client, attempt: &Attempt, flags: &Flags) -> Result<String> {
    let task: Task = client.get(&format!("/api/tasks/{}", attempt.task_id)).await?;
    let body = json!({
        "title": flags.title.as_ref().unwrap_or(&task.title),
        "body": flags.body.as_ref().or(task.description.as_ref()),
        "target_branch": flags.base,
    });
    client.post(&format!("/api/task-attempts/{}/pr", attempt.id), &body).await.map_err(explain)
}

/// Explains a code host's one-word refusal and how to fix it.
fn explain(error: Error) -> Error {
    let refused = match error.downcast::<client::Error>() {
        Ok(refused) => refused,
        Err(error) => return error,
    };
    let (text, hint) = match refused.code {
        Some(ErrorCode::HostTokenInvalid) => (
            "the token for the code host is missing, invalid or expired",
            "set one with `forge config set github.pat TOKEN`, or log in with gh",
        ),
        Some(ErrorCode::HostPermissionMissing) => (
            "the token may not open pull requests here",
            "grant it the permission, or set another with `forge config set github.pat TOKEN`",
        ),
        Some(ErrorCode::HostRepositoryNotFound) => (
            "the repository does not exist or the token cannot see it",
            "check `git remote -v` and the token's permissions",
        ),
        _ => return refused.into(),
    };
    refused.saying(text.to_owned()).hint(hint).into()
}

async fn attach(client: &Client, attempt: &Attempt, number: i64) -> Result<String> {
    let path = format!("/api/task-attempts/{}/pr/attach", attempt.id);
    let found: AttachedPullRequest = client.post(&path, &json!({"pr_number": number})).await?;
    let none = || NotFound(format!("no pull request #{number} comes from {}", attempt.branch)).into();
    found.pr_url.filter(|_| found.pr_attached).ok_or_else(none)
}
