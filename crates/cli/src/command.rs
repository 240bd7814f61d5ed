//! The commands, one file each, and the choice among them.

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
    /// The same as the command `mcp`, for agent programs that have it in their settings
    #[arg(long, hide = true)]
    mcp: bool,
    #[command(flatten)]
    mcp_flags: mcp::Flags,
    #[command(flatten)]
    serve: serve::Flags,
    /// Read more variables from this file
    #[arg(long, global = true, value_name = "FILE")]
    env_file: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    /// Start the server with its board (also `forge` alone, outside a repository)
    Serve(serve::Command),
    /// Give an agent a task in this repository and watch it work
    Run(run::Flags),
    /// Send the agent of an attempt a follow-up message and watch it continue
    Resume(resume::Flags),
    /// List the attempts of this repository, or tasks, projects and agents
    List(list::Flags),
    /// Show the status of the server or of one attempt
    Status(status::Flags),
    /// Stop running attempts
    Stop(stop::Flags),
    /// Answer agents' questions
    Approve(approve::Flags),
    /// Land an attempt as one commit on its target branch
    Merge(merge::Flags),
    /// Rebase an attempt onto its target branch, or resolve a conflict
    Rebase(rebase::Flags),
    /// Push an attempt's branch
    Push(push::Flags),
    /// Open a pull request for an attempt
    Pr(pr::Flags),
    /// Open an attempt on the board or in the editor, or print its path
    Open(open::Flags),
    /// List retired worktrees, or restore one
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
    /// Show what agents used and what it cost
    Usage(usage::Flags),
    /// Run many tasks at once, from a file
    Batch(batch::Flags),
    /// A project's issues: list, claim, create and close them
    #[command(subcommand)]
    Beads(beads::Command),
    /// Give a project's beads to agents, continuously or once
    Dispatch(dispatch::Flags),
    /// Explain which agent got a bead, why, and how it ended
    #[command(subcommand)]
    Route(route::Command),
    /// Open a live dashboard of attempts, tasks, workers, costs and alerts
    Tui(tui::Flags),
    /// Show what an attempt did, or follow it while it runs
    View(view::Flags),
    /// Print the raw output of one run of an attempt
    Logs(logs::Flags),
    /// Show what an attempt changed
    Diff(diff::Flags),
    /// Show the whole product in a minute: a repository, three tasks in parallel, one of them merged
    Demo(demo::Flags),
    /// Check what Forge needs, and show what is missing and how to fix it
    Doctor(doctor::Flags),
    /// Back up everything Forge stores into one file, or restore such a file
    Backup(backup::Flags),
    /// Import projects, tasks, attempts and logs from another system (which is not modified)
    Import(import::Flags),
    /// Start, watch and stop workers: agents in long-lived tmux sessions
    #[command(subcommand)]
    Worker(worker::Command),
    /// Check and list the programs that start workers
    #[command(subcommand)]
    Launcher(launcher::Command),
    /// List alerts about workers
    Alerts(alerts::Flags),
    /// Show which attempt, task, wish and issue the current directory belongs to; needs no server
    Whoami(whoami::Flags),
    /// Import Genie's sessions, or export attempts to Genie
    #[command(subcommand)]
    Sessions(sessions::Command),
    /// Link agents' commits in .genie/SESSION-STATE.md with a pre-commit hook
    #[command(subcommand)]
    Hook(hook::Command),
    /// Connect standard input and output to the running server's Model Context Protocol
    #[command(
        after_help = "Examples:\n  forge mcp\n  forge mcp --advanced    # lists every tool, not only the common ones"
    )]
    Mcp(mcp::Flags),
    /// List, retire, restore and adopt worktrees
    #[command(subcommand)]
    Worktree(worktree::Command),
    /// Create or migrate the database, and exit
    #[command(after_help = "Examples:\n  forge prepare-db")]
    PrepareDb,
    /// Print a completion script for a shell
    Completions(completions::Flags),
    /// Print the manual page, or write one per command
    Man(man::Flags),
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
                false if overview::applies() => overview::run(),
                false => serve::run(self.serve),
            });
        };
        if command.meets_sessions() {
            sessions::notice::offer();
        }
        match command {
            // It starts for every run: no runtime, no logging, nothing to wait for.
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
    /// Whether the command works with a server, and so may find sessions to import.
    fn meets_sessions(&self) -> bool {
        match self {
            Command::ScriptedAgent | Command::Mcp(_) | Command::Hook(_) => false,
            Command::Serve(_) | Command::Demo(_) | Command::PrepareDb | Command::Backup(_) => false,
            Command::Doctor(_) | Command::Whoami(_) | Command::Sessions(_) | Command::Tui(_) => false,
            Command::Completions(_) | Command::Man(_) | Command::Import(_) => false,
            Command::Worker(_) | Command::Launcher(_) | Command::Alerts(_) => false,
            // These need a server first.
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
