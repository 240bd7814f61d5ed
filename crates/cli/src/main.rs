//! The `forge` program: one binary that is server, command line, keeper and scripted agent.
//!
//! Each command has its own file. Commands that read or change the state of a server use HTTP like
//! any other client, so they work against a remote one too.

// These shadow the standard macros, so that no command can bypass the guard.
#[allow(unused_macros, reason = "a future use must get this one")]
macro_rules! print {
    ($($word:tt)*) => { $crate::terminal::put_words(format_args!($($word)*)) };
}
macro_rules! println {
    () => { $crate::terminal::put_words(format_args!("\n")) };
    ($($word:tt)*) => { $crate::terminal::put_words(format_args!("{}\n", format_args!($($word)*))) };
}
macro_rules! eprint {
    ($($word:tt)*) => { $crate::terminal::put_remark(format_args!($($word)*)) };
}
macro_rules! eprintln {
    () => { $crate::terminal::put_remark(format_args!("\n")) };
    ($($word:tt)*) => { $crate::terminal::put_remark(format_args!("{}\n", format_args!($($word)*))) };
}

mod client;
mod command;
mod exit;
mod first_commit;
mod home;
mod json;
mod linkage;
mod logging;
mod note;
mod port;
mod process;
mod prompt;
mod reference;
mod report;
mod settings;
mod table;
mod tally;
mod terminal;
mod token;
mod transcript;
mod watch;
mod wish;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory, FromArgMatches};
use forge_tui::figures;

use crate::report::Report;

/// Returns memory after a burst: a server that runs for weeks should be small again when idle.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    if let Some(dir) = kept_directory() {
        return forge_run::keep(&dir);
    }
    let matches = match command::Cli::command().try_get_matches() {
        Ok(matches) => matches,
        // Help and versions are no errors.
        Err(error) if error.use_stderr() && std::env::args_os().any(|word| word == "--json") => {
            return Report::of_usage(&error).print(true).into();
        }
        Err(error) => error.exit(),
    };
    let as_json = wants_json(&matches);
    match command::Cli::from_arg_matches(&matches) {
        Ok(cli) => cli.run().unwrap_or_else(|error| Report::of(&error).print(as_json).into()),
        Err(error) => error.exit(),
    }
}

/// The run of `forge keep <run dir>`, by which the server starts a keeper. Every run waits for one, and to describe all
/// commands takes longer than to start it.
fn kept_directory() -> Option<PathBuf> {
    let mut words = std::env::args_os().skip(1);
    words.next().filter(|word| word == "keep")?;
    let dir = words.next()?;
    words.next().is_none().then(|| dir.into())
}

/// Whether the innermost command was given `--json`.
fn wants_json(matches: &ArgMatches) -> bool {
    match matches.subcommand() {
        Some((_, below)) => wants_json(below),
        None => matches!(matches.try_get_one::<bool>("json"), Ok(Some(true))),
    }
}
