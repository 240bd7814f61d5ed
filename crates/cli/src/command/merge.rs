//! `forge merge`: lands an attempt as one commit on its target branch.

use anyhow::Result;
use forge_types::{BranchStatus, Merge};
use serde_json::{Value, json};

use crate::command::serve::block_on;
use crate::reference::{Deed, Meant, Subject, short};
use crate::terminal::{self, say};
use crate::transcript::{Ink, Line};

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  forge merge @last\n  forge merge a1b2 --message \"Fix the login\"")]
pub struct Flags {
    #[command(flatten)]
    subject: Subject,
    /// Message of the commit [default: the agent's own, else the task's title and description]
    #[arg(short, long)]
    message: Option<String>,
}

pub fn run(flags: Flags) -> Result<()> {
    block_on(async {
        let (client, Meant { attempt, project }) = flags.subject.find(Deed::Change).await?;
        let path = format!("/api/task-attempts/{}", attempt.id);
        client.post::<Value>(&format!("{path}/merge"), &json!({"message": flags.message})).await?;
        let status: BranchStatus = client.get(&format!("{path}/branch-status")).await?;
        let commit = status.merges.iter().find_map(Merge::commit).unwrap_or_default();
        if flags.subject.json {
            terminal::print_json(&json!({
                "attempt_id": attempt.id, "branch": attempt.branch, "target_branch": attempt.target_branch,
                "commit": commit, "project": project.name,
            }));
            return Ok(());
        }
        let (id, target, name) = (short(attempt.id), &attempt.target_branch, &project.name);
        let into = format!("{id} into {target} of {name} as {}", short(commit));
        say(&Line::new(Ink::Green, "merged ").and(Ink::Plain, &into));
        Ok(())
    })
}
