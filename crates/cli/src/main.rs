//! The `forge` program: one binary that is server, command line, keeper and scripted agent.
//!
//! Each command has a file of its own. Commands that look at or change the state of a server speak HTTP to it like
//! any other client, so they work against a remote one too.

mod client;
mod demo;
mod doctor;
mod logging;
mod mcp;
mod port;
mod prepare_db;
mod run;
mod serve;
mod settings;
mod terminal;
mod token;
mod transcript;
mod whoami;
mod worktree;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Gives memory back after a burst: a server that lives for weeks should be small again when it is quiet.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Run many coding agents at once, each in its own git worktree, and land their work.
#[derive(Parser)]
#[command(name = "forge", version, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// The same as the command `mcp`, as agent programs have it in their settings
    #[arg(long, hide = true)]
    mcp: bool,
    #[command(flatten)]
    mcp_flags: mcp::Flags,
    #[command(flatten)]
    serve: serve::Flags,
}

#[derive(Subcommand)]
enum Command {
    /// Start the server with its board (also without any command)
    Serve(serve::Flags),
    /// Give an agent a task in this repository and watch it work
    Run(run::Flags),
    /// Show the whole product in a minute: a repository, three tasks side by side, one of them merged
    Demo(demo::Flags),
    /// Look at what Forge needs here, and say what is missing and which command helps
    Doctor(doctor::Flags),
    /// Tell which attempt the present directory belongs to; needs no server
    Whoami(whoami::Flags),
    /// Speak the Model Context Protocol on standard input and output, for the server that runs
    Mcp(mcp::Flags),
    /// List, retire and restore worktrees
    #[command(subcommand)]
    Worktree(worktree::Command),
    /// Create the database, or bring it up to date, and exit
    PrepareDb,
    /// Own one agent process and its log (started by the server)
    #[command(hide = true)]
    Keep { dir: PathBuf },
    /// The built-in agent: does what the prompt on its standard input says, line by line
    #[command(hide = true)]
    ScriptedAgent,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        // These two are started for every run: no runtime, no logging, nothing to wait for.
        Some(Command::Keep { dir }) => return forge_run::keep(&dir),
        Some(Command::ScriptedAgent) => return scripted_agent(),
        Some(Command::Whoami(flags)) => whoami::print(&flags),
        Some(Command::Serve(flags)) => serve::run(flags),
        Some(Command::Run(flags)) => return told(run::run(flags)),
        Some(Command::Doctor(flags)) => return told(doctor::run(flags)),
        Some(Command::Demo(flags)) => demo::run(flags),
        Some(Command::Worktree(command)) => worktree::run(command),
        Some(Command::PrepareDb) => prepare_db::run(),
        Some(Command::Mcp(flags)) => mcp::run(flags),
        None if cli.mcp => mcp::run(cli.mcp_flags),
        None => serve::run(cli.serve),
    };
    told(result.map(|()| ExitCode::SUCCESS))
}

fn told(result: anyhow::Result<ExitCode>) -> ExitCode {
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("forge: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn scripted_agent() -> ExitCode {
    let cwd = std::env::current_dir().unwrap_or_default();
    forge_run::agents::scripted_agent(std::io::stdin().lock(), std::io::stdout().lock(), &cwd)
}
