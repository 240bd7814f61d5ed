//! `forge run`: give an agent a task and watch it work, from the prompt to what came of it.
//!
//! Everything goes through the API of a server, so a run that is left goes on there; only `--direct` has none.

pub mod agent;
pub mod begin;
mod direct;
mod live;
mod missing;
mod standalone;
mod summary;

use std::process::ExitCode;

use anyhow::Result;

use crate::client::Client;
use crate::command::resume;
use crate::command::serve::{self, background};
use crate::command::sessions;
use crate::exit::Misused;
use crate::prompt::Prompt;
use crate::reference::{self, Deed, Scope};
use crate::terminal;
use agent::Choice;
pub use agent::{read_executor, usual_profile};
use begin::Work;
pub use live::{Begun, Manner};
use standalone::Standalone;
pub use summary::Landing;

/// The name under which other programs ask for [`Flags::direct`].
const LEGACY: &str = "legacy";

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  forge run \"Fix the typo in the README\"\n  forge run -x CODEX:HIGH -f task.md --background\n  forge run --issue 42 --auto-pr"
)]
pub struct Flags {
    #[command(flatten)]
    prompt: Prompt,
    #[command(flatten)]
    choice: Choice,
    /// Path, name or id of the project [default: the repository of the present directory]
    #[arg(short, long, value_name = "PROJECT")]
    project: Option<String>,
    /// Branch to begin at and to land on [default: the one of the project]
    #[arg(long, value_name = "BRANCH")]
    base: Option<String>,
    /// Title of the task [default: the first line of the prompt]
    #[arg(short, long)]
    title: Option<String>,
    /// Work on an issue of the project's code host instead of a prompt
    #[arg(long, value_name = "N|URL", conflicts_with_all = ["title", "no_worktree"])]
    issue: Option<String>,
    /// Open a pull request once the agent succeeded with changes
    #[arg(long)]
    auto_pr: bool,
    /// Stop the agent when the attempt has cost this much
    #[arg(long, value_name = "USD")]
    max_cost: Option<f64>,
    /// Work in the repository itself instead of a worktree
    #[arg(long)]
    no_worktree: bool,
    #[command(flatten)]
    manner: Manner,
    /// Serve in this process for the time of the run, when no server is running
    #[arg(long, conflicts_with = "background")]
    standalone: bool,
    /// The agent's own program in the present directory, without server or worktree (also: -x legacy)
    #[arg(long, conflicts_with_all = DIRECTLY_NOT)]
    direct: bool,
    /// The older way to say `forge resume`
    #[arg(long, value_name = "ATTEMPT", hide = true, conflicts_with_all = ["project", "base", "title", "issue", "direct"])]
    follow: Option<String>,
}

/// What only a server can do.
const DIRECTLY_NOT: [&str; 10] = [
    "project",
    "base",
    "title",
    "issue",
    "auto_pr",
    "max_cost",
    "no_worktree",
    "background",
    "json",
    "standalone",
];

pub fn run(flags: Flags) -> Result<ExitCode> {
    serve::block_on(async {
        let legacy = flags.choice.executor.as_deref().is_some_and(|name| name.eq_ignore_ascii_case(LEGACY));
        if flags.direct || legacy {
            let choice = if legacy { Choice { executor: None, ..flags.choice } } else { flags.choice };
            return direct::run(&choice, &flags.prompt.read()?, flags.manner.yes).await;
        }
        let work = read_work(&flags)?;
        if flags.standalone {
            let (server, client) = Standalone::open().await?;
            let code = work_on(&client, &flags, &work, Landing::Git).await;
            server.close().await;
            return code;
        }
        let client = background::client().await?;
        sessions::notice::tell_now().await;
        work_on(&client, &flags, &work, Landing::Server).await
    })
}

fn read_work(flags: &Flags) -> Result<Work> {
    let Some(issue) = &flags.issue else { return flags.prompt.read().map(Work::Prompt) };
    if flags.prompt.is_given() {
        let text = "--issue: the agent is told what the issue says, so no prompt can be given; say more with \
                    `forge resume` once it is at work";
        return Err(Misused(text.to_owned()).into());
    }
    Ok(Work::Issue(issue.clone()))
}

async fn work_on(client: &Client, flags: &Flags, work: &Work, landing: Landing) -> Result<ExitCode> {
    let begun = match (&flags.follow, work) {
        (Some(attempt), Work::Prompt(prompt)) => {
            let agent = flags.choice.executor.as_ref().or(flags.choice.agent.as_ref());
            let profile = agent.map(|agent| read_executor(agent)).transpose()?;
            let meant = reference::attempt(client, attempt, &Scope::default(), Deed::Change).await?;
            resume::go_on(client, meant, prompt, profile, false).await?
        }
        _ => begin::begin(client, flags, work).await?,
    };
    terminal::until_closed(begun.tell(client, &flags.manner, landing).await)
}
