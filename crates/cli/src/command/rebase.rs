//! `forge rebase`: rebases an attempt onto its target branch, or resolves or aborts a stopped rebase.
//!
//! Invariant: a rebase that stops at a conflict fails with an error that names the files and what to do.

use anyhow::{Error, Result};
use forge_types::wire::ExecutionProcess;
use forge_types::{Attempt, BranchStatus, ErrorCode};
use serde_json::{Value, json};

use crate::client::{self, Client};
use crate::command::serve::block_on;
use crate::json;
use crate::reference::{Deed, Meant, Subject, short};
use crate::terminal::{self, say};
use crate::transcript::{Ink, Line};

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  forge rebase @last\n  forge rebase a1b2 --onto release\n  forge rebase a1b2 --resolve"
)]
pub struct Flags {
    #[command(flatten)]
    subject: Subject,
    /// New target branch [default: the current target]
    #[arg(long, value_name = "BRANCH", conflicts_with_all = ["abort", "resolve"])]
    onto: Option<String>,
    /// Abort a rebase that stopped at a conflict
    #[arg(long, conflicts_with = "resolve")]
    abort: bool,
    /// Let the agent resolve the conflict that a rebase stopped at
    #[arg(long)]
    resolve: bool,
}

pub fn run(flags: Flags) -> Result<()> {
    block_on(async {
        let (client, meant) = flags.subject.find(Deed::Change).await?;
        let Meant { attempt, project } = &meant;
        let (word, rest, data) = if flags.abort {
            abort(&client, attempt, &project.name).await?
        } else if flags.resolve {
            resolve(&client, attempt, &project.name).await?
        } else {
            rebase(&client, attempt, &project.name, flags.onto.as_deref()).await?
        };
        match flags.subject.json {
            true => terminal::print_json(&data),
            false => say(&Line::new(Ink::Green, word).and(Ink::Plain, &rest)),
        }
        Ok(())
    })
}

/// What was done, to what, and the same as JSON.
type Done = (&'static str, String, Value);

async fn rebase(client: &Client, attempt: &Attempt, of: &str, onto: Option<&str>) -> Result<Done> {
    let path = format!("/api/task-attempts/{}/rebase", attempt.id);
    let rebased = client.post::<Value>(&path, &json!({"new_base_branch": onto})).await;
    if let Err(error) = rebased {
        return Err(explain(attempt, error));
    }
    let target = onto.unwrap_or(&attempt.target_branch);
    let status = status(client, attempt).await?;
    let ahead = status.commits_ahead.unwrap_or(0);
    let data = json!({
        "attempt_id": attempt.id, "branch": attempt.branch, "target_branch": target, "commits_ahead": ahead,
        "project": of,
    });
    Ok(("rebased ", format!("{} onto {target} of {of}, {ahead} ahead of it", short(attempt.id)), data))
}

/// Adds what to do to the refusal.
fn explain(attempt: &Attempt, error: Error) -> Error {
    let id = short(attempt.id);
    let help = format!("`forge rebase {id} --resolve` hands it to the agent, `--abort` undoes it");
    match error.downcast::<client::Error>() {
        Ok(refused) => match refused.code {
            Some(ErrorCode::MergeConflicts) => refused.hint(help).into(),
            Some(ErrorCode::OperationInProgress) => {
                refused.saying(format!("an earlier rebase of {id} stopped at a conflict")).hint(help).into()
            }
            _ => refused.into(),
        },
        Err(error) => error,
    }
}

async fn abort(client: &Client, attempt: &Attempt, of: &str) -> Result<Done> {
    let before = status(client, attempt).await?;
    if before.uncommitted_count.is_none() {
        let id = short(attempt.id);
        let retired = format!("the worktree of {id} is retired, and with it any rebase that stopped there");
        return Err(forge_core::Error::conflict(retired)
            .hint(format!("`forge restore {id}` restores it"))
            .into());
    }
    let data = json!({"attempt_id": attempt.id, "aborted": is_stopped(&before), "project": of});
    if !is_stopped(&before) {
        return Ok((
            "",
            format!("no rebase has stopped in {}; there is nothing to abort", short(attempt.id)),
            data,
        ));
    }
    let path = format!("/api/task-attempts/{}/conflicts/abort", attempt.id);
    client.post::<Value>(&path, &json!({})).await?;
    Ok(("aborted ", format!("the rebase of {} in {of}; its branch is unchanged", short(attempt.id)), data))
}

async fn resolve(client: &Client, attempt: &Attempt, of: &str) -> Result<Done> {
    let files = status(client, attempt).await?.conflicted_files;
    let path = format!("/api/task-attempts/{}/conflicts/resolve", attempt.id);
    let run: ExecutionProcess = client.post(&path, &json!({})).await?;
    let what = if files.is_empty() { "the rebase".to_owned() } else { files.join(", ") };
    let run = json::complete(&run);
    let data = json!({"attempt_id": attempt.id, "conflicted_files": files, "process": run, "project": of});
    let id = short(attempt.id);
    Ok((
        "handed ",
        format!("{what} to the agent of {id} in {of}; `forge status {id}` shows the progress"),
        data,
    ))
}

async fn status(client: &Client, attempt: &Attempt) -> Result<BranchStatus> {
    client.get(&format!("/api/task-attempts/{}/branch-status", attempt.id)).await
}

fn is_stopped(status: &BranchStatus) -> bool {
    status.is_rebase_in_progress || status.conflict_op.is_some()
}
