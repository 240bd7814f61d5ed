//! `forge logs`: what one run of an attempt wrote, as it was.

use std::process::ExitCode;

use anyhow::Result;

use crate::client::Client;
use crate::command::serve;
use crate::command::view::{Form, Reader, Reading, stay};
use crate::process::Process;
use crate::reference::{self, Deed, NotFound, Scope};
use crate::terminal;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  forge logs                            # what the newest agent of this repository wrote
  forge logs a1b2 --process setup       # what its setup script wrote
  forge logs a1b2 --process dev -F      # the dev server, live")]
pub struct Flags {
    /// The attempt: its id or the beginning of it, its branch, its task, its agent
    #[arg(default_value = "@last")]
    attempt: String,
    /// Stay until the run ends; Ctrl-C leaves it at work
    #[arg(short = 'F', long)]
    follow: bool,
    /// The newest run of a kind (setup, agent, cleanup, dev), or one by its id
    #[arg(short, long, value_name = "KIND|ID", default_value = "agent")]
    process: String,
    /// Print the chunks as JSON lines
    #[arg(long)]
    json: bool,
}

pub fn run(flags: Flags) -> Result<ExitCode> {
    terminal::until_closed(serve::block_on(async {
        let client = Client::find()?;
        let attempt =
            reference::attempt(&client, &flags.attempt, &Scope::default(), Deed::Look).await?.attempt;
        let run = choose(&Process::list(&client, &attempt.id).await?, &flags.process)?;
        let form = if flags.json { Form::Chunks } else { Form::Raw(terminal::Log::new()) };
        let reading = if flags.follow { Reading::ToTheEnd } else { Reading::SoFar };
        let mut reader = Reader::new(&client, &attempt.id, form, reading);
        if !flags.follow {
            reader.tell(&run).await?;
            return Ok(ExitCode::SUCCESS);
        }
        let telling = async {
            reader.tell(&run).await?;
            Process::settled(&client, &run.id).await.map(Some)
        };
        stay(&attempt, telling).await
    }))
}

fn choose(runs: &[Process], named: &str) -> Result<Process> {
    let reason = match named {
        "setup" => "setupscript",
        "agent" => "codingagent",
        "cleanup" => "cleanupscript",
        "dev" => "devserver",
        _ => "",
    };
    let fits = |run: &&Process| match reason {
        "" => named.len() >= reference::LEAST_DIGITS && run.id.starts_with(&named.to_ascii_lowercase()),
        reason => run.run_reason == reason,
    };
    if let Some(run) = runs.iter().rev().find(fits) {
        return Ok(run.clone());
    }
    let known: Vec<String> =
        runs.iter().map(|run| format!("{} ({})", reference::short(&run.id), run.name())).collect();
    let known = if known.is_empty() { "it has none yet".to_owned() } else { known.join(", ") };
    Err(NotFound(format!("no run of this attempt is meant by --process '{named}'; its runs: {known}")).into())
}
