//! The commands, one file each, and which of them was asked for.

mod alerts;
mod approve;
mod backup;
mod batch;
mod beads;
mod completions;
mod config;
mod demo;
mod diff;
mod dispatch;
mod doctor;
mod hook;
mod import;
mod launcher;
mod list;
mod logs;
mod man;
mod mcp;
mod merge;
mod open;
mod overview;
mod pr;
mod prepare_db;
mod project;
mod push;
mod rebase;
mod restore;
mod resume;
mod route;
mod run;
pub mod serve;
mod sessions;
mod status;
mod stop;
mod task;
mod tui;
mod usage;
mod view;
mod whoami;
mod worker;
mod worktree;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::settings::Env;

/// Run many coding agents at once, each in its own git worktree, and land their work.
#[derive(Parser)]
#[command(name = "forge", version)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// The same as the command `mcp`, as agent programs have it in their settings
    #[arg(long, hide = true)]
    mcp: bool,
    #[command(flatten)]
    mcp_flags: mcp::Flags,
    #[command(flatten)]
    serve: serve::Flags,
    /// Read further variables from this file
    #[arg(long, global = true, value_name = "FILE")]
    env_file: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    /// Start the server with its board (also without any command, outside of a repository)
    Serve(serve::Command),
    /// Give an agent a task in this repository and watch it work
    Run(run::Flags),
    /// Say more to the agent of an attempt and watch it go on
    Resume(resume::Flags),
    /// Attempts of this repository, or tasks, projects and agents
    List(list::Flags),
    /// How the server stands, or one attempt
    Status(status::Flags),
    /// Stop what attempts have at work
    Stop(stop::Flags),
    /// Answer the questions of agents
    Approve(approve::Flags),
    /// Land an attempt as one commit on its target branch
    Merge(merge::Flags),
    /// Replay an attempt on its target branch, or get out of a conflict
    Rebase(rebase::Flags),
    /// Publish an attempt's branch
    Push(push::Flags),
    /// Open a pull request for an attempt
    Pr(pr::Flags),
    /// Open an attempt on the board or in the editor, or print its path
    Open(open::Flags),
    /// Retired worktrees, and bringing one back
    Restore(restore::Flags),
    /// Add, list, show and remove projects
    #[command(subcommand)]
    Project(project::Command),
    /// Add, list, change and start tasks
    #[command(subcommand)]
    Task(task::Command),
    /// Read and change the settings
    #[command(subcommand)]
    Config(config::Command),
    /// What agents used and what it cost
    Usage(usage::Flags),
    /// Give agents many tasks at once, from a file
    Batch(batch::Flags),
    /// The work that a project has written down: list it, take it, close it
    #[command(subcommand)]
    Beads(beads::Command),
    /// Give the beads of a project to agents, by itself or once
    Dispatch(dispatch::Flags),
    /// Why which agent got a bead, and what came of it
    #[command(subcommand)]
    Route(route::Command),
    /// Attempts, tasks, workers, costs and alerts on a live dashboard
    Tui(tui::Flags),
    /// Show what an attempt did, or stay with it while it works
    View(view::Flags),
    /// Print what one run of an attempt wrote, as it was
    Logs(logs::Flags),
    /// Show what an attempt changed
    Diff(diff::Flags),
    /// Show the whole product in a minute: a repository, three tasks side by side, one of them merged
    Demo(demo::Flags),
    /// Look at what Forge needs here, and say what is missing and which command helps
    Doctor(doctor::Flags),
    /// Write everything that Forge keeps into one file, or bring such a file back
    Backup(backup::Flags),
    /// Bring projects, tasks, attempts and logs over from another system, which is only read
    Import(import::Flags),
    /// Start, watch and end workers: agents that live on in tmux sessions
    #[command(subcommand)]
    Worker(worker::Command),
    /// Check and list the programs that workers are started with
    #[command(subcommand)]
    Launcher(launcher::Command),
    /// What you should know about the workers
    Alerts(alerts::Flags),
    /// Tell which attempt, task, wish and issue the present directory belongs to; needs no server
    Whoami(whoami::Flags),
    /// Bring Genie's sessions here, or write attempts down for Genie
    #[command(subcommand)]
    Sessions(sessions::Command),
    /// Link the commits of agents in .genie/SESSION-STATE.md, by a pre-commit hook
    #[command(subcommand)]
    Hook(hook::Command),
    /// Speak the Model Context Protocol on standard input and output, for the server that runs
    #[command(
        after_help = "Examples:\n  forge mcp\n  forge mcp --advanced    # lists every tool, not only those of the usual work"
    )]
    Mcp(mcp::Flags),
    /// List, retire, restore and adopt worktrees
    #[command(subcommand)]
    Worktree(worktree::Command),
    /// Create the database, or bring it up to date, and exit
    #[command(after_help = "Examples:\n  forge prepare-db")]
    PrepareDb,
    /// Print a script that completes commands and flags in a shell
    Completions(completions::Flags),
    /// Print the manual page, or write one per command
    Man(man::Flags),
    /// Own one agent process and its log (started by the server)
    #[command(hide = true)]
    Keep { dir: PathBuf },
    /// The built-in agent: does what the prompt on its standard input says, line by line
    #[command(hide = true)]
    ScriptedAgent,
}

impl Cli {
    pub fn run(self) -> Result<ExitCode> {
        if let Some(file) = &self.env_file {
            Env::name_file(file)?;
        }
        let Some(command) = self.command else {
            return done(match self.mcp {
                true => mcp::run(self.mcp_flags),
                false if overview::is_meant() => overview::run(),
                false => serve::run(self.serve),
            });
        };
        if command.meets_sessions() {
            sessions::notice::tell();
        }
        match command {
            // These two are started for every run: no runtime, no logging, nothing to wait for.
            Command::Keep { dir } => Ok(forge_run::keep(&dir)),
            Command::ScriptedAgent => Ok(scripted_agent()),
            Command::Whoami(flags) => done(whoami::run(&flags)),
            Command::Sessions(command) => done(sessions::run(command)),
            Command::Hook(command) => hook::run(command),
            Command::Serve(command) => done(command.run()),
            Command::Run(flags) => run::run(flags),
            Command::Resume(flags) => resume::run(flags),
            Command::Batch(flags) => batch::run(flags),
            Command::View(flags) => view::run(flags),
            Command::Logs(flags) => logs::run(flags),
            Command::Diff(flags) => diff::run(flags),
            Command::Doctor(flags) => doctor::run(flags),
            Command::Backup(flags) => done(backup::run(flags)),
            Command::Import(flags) => done(import::run(flags)),
            Command::Demo(flags) => done(demo::run(flags)),
            Command::Worktree(command) => done(worktree::run(command)),
            Command::PrepareDb => done(prepare_db::run()),
            Command::Mcp(flags) => done(mcp::run(flags)),
            Command::Worker(command) => worker::run(command),
            Command::Launcher(command) => launcher::run(command),
            Command::Alerts(flags) => done(alerts::run(flags)),
            Command::List(flags) => done(list::run(flags)),
            Command::Status(flags) => done(status::run(flags)),
            Command::Stop(flags) => done(stop::run(flags)),
            Command::Approve(flags) => done(approve::run(flags)),
            Command::Merge(flags) => done(merge::run(flags)),
            Command::Rebase(flags) => done(rebase::run(flags)),
            Command::Push(flags) => done(push::run(flags)),
            Command::Pr(flags) => done(pr::run(flags)),
            Command::Open(flags) => done(open::run(flags)),
            Command::Restore(flags) => done(restore::run(flags)),
            Command::Project(command) => done(project::run(command)),
            Command::Task(command) => done(task::run(command)),
            Command::Config(command) => done(config::run(command)),
            Command::Usage(flags) => done(usage::run(flags)),
            Command::Beads(command) => done(beads::run(command)),
            Command::Dispatch(flags) => done(dispatch::run(flags)),
            Command::Route(command) => done(route::run(command)),
            Command::Tui(flags) => done(tui::run(&flags)),
            Command::Completions(flags) => done(completions::run(&flags)),
            Command::Man(flags) => done(man::run(&flags)),
        }
    }
}

impl Command {
    /// Whether the command has to do with the work on a server, and so with sessions that could be there.
    fn meets_sessions(&self) -> bool {
        match self {
            Command::Keep { .. } | Command::ScriptedAgent | Command::Mcp(_) | Command::Hook(_) => false,
            Command::Serve(_) | Command::Demo(_) | Command::PrepareDb | Command::Backup(_) => false,
            Command::Doctor(_) | Command::Whoami(_) | Command::Sessions(_) | Command::Tui(_) => false,
            Command::Completions(_) | Command::Man(_) | Command::Import(_) => false,
            Command::Worker(_) | Command::Launcher(_) | Command::Alerts(_) => false,
            // They have a server first.
            Command::Run(_) | Command::Resume(_) => false,
            _ => true,
        }
    }
}

fn done(result: Result<()>) -> Result<ExitCode> {
    result.map(|()| ExitCode::SUCCESS)
}

fn scripted_agent() -> ExitCode {
    let cwd = std::env::current_dir().unwrap_or_default();
    forge_run::agents::scripted_agent(std::io::stdin().lock(), std::io::stdout().lock(), &cwd)
}

#[cfg(test)]
mod tests;
