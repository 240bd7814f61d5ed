//! `forge logs`: the raw output of one run of an attempt.

use std::process::ExitCode;

use anyhow::Result;

use crate::client::Client;
use crate::command::serve;
use crate::command::view::{Form, Reader, Reading, follow};
use crate::process::Process;
use crate::reference::{self, Deed, NotFound, Scope, is_prefix, short};
use crate::terminal;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  forge logs                            # what the newest agent of this repository wrote
  forge logs a1b2 --process setup       # the output of its setup script
  forge logs a1b2 --process dev -F      # the dev server, live")]
pub struct Flags {
    /// The attempt: id or a prefix of it, branch, task, agent or @last
    #[arg(default_value = "@last")]
    attempt: String,
    /// Follow until the run ends; Ctrl-C leaves it running
    #[arg(short = 'F', long)]
    follow: bool,
    /// The newest run of a kind (setup, agent, cleanup, dev), or a run by its id
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
        let run = choose(&Process::list(&client, attempt.id).await?, &flags.process)?;
        let form = if flags.json { Form::Chunks } else { Form::Raw(terminal::Log::new()) };
        let reading = if flags.follow { Reading::ToTheEnd } else { Reading::SoFar };
        let mut reader = Reader::new(&client, attempt.id, form, reading);
        if !flags.follow {
            reader.show(&run).await?;
            return Ok(ExitCode::SUCCESS);
        }
        let showing = async {
            reader.show(&run).await?;
            Process::settled(&client, run.id).await.map(Some)
        };
        follow(&attempt, showing).await
    }))
}

fn choose(runs: &[Process], named: &str) -> Result<Process> {
    // A kind is the first word of a run's name.
    let is_kind = |run: &Process| run.name().split(' ').next() == Some(named);
    let is_id = |run: &Process| is_prefix(named, run.id);
    if let Some(run) = runs.iter().rev().find(|run| is_kind(run) || is_id(run)) {
        return Ok(run.clone());
    }
    let known: Vec<String> = runs.iter().map(|run| format!("{} ({})", short(run.id), run.name())).collect();
    let known = if known.is_empty() { "none yet".to_owned() } else { known.join(", ") };
    Err(NotFound(format!("--process: no run of this attempt matches '{named}'; its runs: {known}")).into())
}
