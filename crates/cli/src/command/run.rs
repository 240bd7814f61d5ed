//! `forge run`: gives an agent a task and shows its work, from the prompt to the result.
//!
//! Everything goes through a server's API, so a run continues when the person leaves; only `--direct` has no server.

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
pub use agent::{known_profiles, read_executor, usual_profile};
use begin::Work;
pub use live::{Begun, Manner};
use standalone::Standalone;
pub use summary::Landing;

/// The executor name that other programs use for [`Flags::direct`].
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
    /// Path, name or id of the project [default: that of the current directory]
    #[arg(short, long, value_name = "PROJECT")]
    project: Option<String>,
    /// Branch to start from and to land on [default: the project's]
    #[arg(long, value_name = "BRANCH")]
    base: Option<String>,
    /// Title of the task [default: the first line of the prompt]
    #[arg(short, long)]
    title: Option<String>,
    /// Work on an issue of the project's code host instead of a prompt
    #[arg(long, value_name = "N|URL", conflicts_with_all = ["title", "no_worktree"])]
    issue: Option<String>,
    /// Open a pull request when the agent succeeds with changes
    #[arg(long)]
    auto_pr: bool,
    /// Stop the agent when the attempt reaches this cost
    #[arg(long, value_name = "USD")]
    max_cost: Option<f64>,
    /// Work in the repository itself instead of a worktree
    #[arg(long)]
    no_worktree: bool,
    #[command(flatten)]
    manner: Manner,
    /// Run a server in this process for the duration of the run, if none is running
    #[arg(long, conflicts_with = "background")]
    standalone: bool,
    /// Run the agent's own program in the current directory, without server or worktree (also: -x legacy)
    #[arg(long, conflicts_with_all = NEEDS_SERVER)]
    direct: bool,
    /// The older form of `forge resume`
    #[arg(long, value_name = "ATTEMPT", hide = true, conflicts_with_all = ["project", "base", "title", "issue", "direct"])]
    follow: Option<String>,
}

/// What only a server can do.
const NEEDS_SERVER: [&str; 10] = [
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
        sessions::notice::offer_now().await;
        work_on(&client, &flags, &work, Landing::Server).await
    })
}

fn read_work(flags: &Flags) -> Result<Work> {
    let Some(issue) = &flags.issue else { return flags.prompt.read().map(Work::Prompt) };
    if flags.prompt.is_given() {
        let text = "--issue: the prompt comes from the issue, so you cannot give one; send more with \
                    `forge resume` once the agent is running";
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
            resume::follow_up(client, meant, prompt, profile, false).await?
        }
        _ => begin::begin(client, flags, work).await?,
    };
    terminal::until_closed(begun.report(client, &flags.manner, landing).await)
}
