//! `forge resume`: sends the agent of an attempt a follow-up message and shows its run.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use forge_types::wire::TaskAttemptDetail;
use forge_types::{FollowUp, ProfileId};
use serde_json::json;

use super::run::{Begun, Landing, Manner, read_executor};
use crate::client::Client;
use crate::command::serve::{self, background};
use crate::command::sessions;
use crate::exit::Misused;
use crate::process::Process;
use crate::prompt::Prompt;
use crate::reference::{self, Deed, Meant, Scope, short};
use crate::terminal;

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  forge resume @last \"Now add a test for it\"\n  forge resume a1b2 -f review.md --background\n  git diff | forge resume code-review -"
)]
pub struct Flags {
    /// The attempt: id or a prefix of it, branch, task or agent, or `-` for the newest of this repository
    #[arg(value_name = "ATTEMPT")]
    attempt: String,
    #[command(flatten)]
    scope: Scope,
    #[command(flatten)]
    prompt: Prompt,
    /// Another variant of the attempt's agent, e.g. CLAUDE_CODE:PLAN
    #[arg(short = 'x', long, value_name = "EXECUTOR[:VARIANT]")]
    executor: Option<String>,
    /// Start a new conversation that includes what was said so far, for an agent that lost it
    #[arg(long)]
    fresh: bool,
    #[command(flatten)]
    manner: Manner,
}

pub fn run(flags: Flags) -> Result<ExitCode> {
    serve::block_on(async {
        let prompt = flags.prompt.read()?;
        let client = background::client().await?;
        sessions::notice::offer_now().await;
        let profile = flags.executor.as_deref().map(read_executor).transpose()?;
        let meant = reference::attempt(&client, &flags.attempt, &flags.scope, Deed::Change).await?;
        let begun = follow_up(&client, meant, &prompt, profile, flags.fresh).await?;
        terminal::until_closed(begun.report(&client, &flags.manner, Landing::Server).await)
    })
}

/// Sends a follow-up message to an attempt's agent.
pub async fn follow_up(
    client: &Client,
    meant: Meant,
    prompt: &str,
    profile: Option<ProfileId>,
    fresh: bool,
) -> Result<Begun> {
    let since = Instant::now();
    let Meant { attempt, project } = meant;
    let fresh = fresh.then_some(true);
    let mut body = FollowUp { fresh, ..FollowUp::saying(prompt.to_owned()) };
    if let Some(profile) = profile {
        let used = attempt.executor_profile_id.executor;
        if profile.executor != used {
            let text = format!(
                "--executor: attempt {} uses {used}; you can choose another variant of it, but not another agent",
                short(attempt.id)
            );
            return Err(Misused(text).into());
        }
        body.variant = Some(profile.variant);
    }
    let id = attempt.id;
    let known = Process::list(client, id).await?;
    let run: Process = client.post(&format!("/api/task-attempts/{id}/follow-up"), &json!(body)).await?;
    let mut notes = Vec::new();
    if known.iter().any(|process| process.id == run.id) {
        notes.push("the agent is running and got the message; this is its run from the beginning".to_owned());
    } else if known.iter().any(Process::is_running) {
        notes.push("another run of this attempt is running; this one starts after it".to_owned());
    }
    let TaskAttemptDetail { attempt, .. } = client.get(&format!("/api/task-attempts/{id}")).await?;
    Ok(Begun { attempt, project, first_commit: None, run, notes, since })
}
