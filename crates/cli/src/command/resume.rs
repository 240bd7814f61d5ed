//! `forge resume`: say more to the agent of an attempt, and watch it go on.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use forge_types::ProfileId;
use serde_json::{Value, json};

use super::run::{Begun, Landing, Manner, read_executor};
use crate::client::Client;
use crate::command::serve::{self, background};
use crate::command::sessions;
use crate::exit::Misused;
use crate::process::Process;
use crate::prompt::Prompt;
use crate::reference::{self, Deed, Meant, Scope};
use crate::terminal;

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  forge resume @last \"Now add a test for it\"\n  forge resume a1b2 -f review.md --background\n  git diff | forge resume code-review -"
)]
pub struct Flags {
    /// The attempt: its id or the beginning of it, its branch, task or agent, or `-` for the newest of this repository
    #[arg(value_name = "ATTEMPT")]
    attempt: String,
    #[command(flatten)]
    scope: Scope,
    #[command(flatten)]
    prompt: Prompt,
    /// Another variant of the attempt's agent, e.g. CLAUDE_CODE:PLAN
    #[arg(short = 'x', long, value_name = "EXECUTOR[:VARIANT]")]
    executor: Option<String>,
    /// Begin a new conversation, told what was said so far, for an agent that lost it
    #[arg(long)]
    fresh: bool,
    #[command(flatten)]
    manner: Manner,
}

pub fn run(flags: Flags) -> Result<ExitCode> {
    serve::block_on(async {
        let prompt = flags.prompt.read()?;
        let client = background::client().await?;
        sessions::notice::tell_now().await;
        let profile = flags.executor.as_deref().map(read_executor).transpose()?;
        let meant = reference::attempt(&client, &flags.attempt, &flags.scope, Deed::Change).await?;
        let begun = go_on(&client, meant, &prompt, profile, flags.fresh).await?;
        terminal::until_closed(begun.tell(&client, &flags.manner, Landing::Server).await)
    })
}

/// Says more to an attempt's agent.
pub async fn go_on(
    client: &Client,
    meant: Meant,
    prompt: &str,
    profile: Option<ProfileId>,
    fresh: bool,
) -> Result<Begun> {
    let since = Instant::now();
    let Meant { attempt, project } = meant;
    let mut body = json!({"prompt": prompt});
    if let Some(profile) = profile {
        let used = attempt.executor_profile_id.executor;
        if profile.executor != used {
            let text = format!(
                "--executor: attempt {} works with {used}; another variant of it is possible, another agent is not",
                attempt.short()
            );
            return Err(Misused(text).into());
        }
        body["variant"] = json!(profile.variant);
    }
    if fresh {
        body["fresh"] = json!(true);
    }
    let id = &attempt.id;
    let known = Process::list(client, id).await?;
    let run: Process = client.post(&format!("/api/task-attempts/{id}/follow-up"), &body).await?;
    let mut notes = Vec::new();
    if known.iter().any(|process| process.id == run.id) {
        notes.push("the agent is at work and was told; this is its run from the beginning".to_owned());
    } else if known.iter().any(Process::is_running) {
        notes.push("another run of this attempt is at work; this one waits for its end".to_owned());
    }
    let attempt: Value = client.get(&format!("/api/task-attempts/{id}")).await?;
    Ok(Begun { attempt, project, run, notes, since })
}
