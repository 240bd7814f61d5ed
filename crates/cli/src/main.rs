//! The `forge` program: one binary that is server, command line, keeper and scripted agent.
//!
//! Each command has a file of its own. Commands that look at or change the state of a server speak HTTP to it like
//! any other client, so they work against a remote one too.

// These shadow the macros of the standard library, so that no command can write past the guard.
#[allow(unused_macros, reason = "whoever writes it some day gets this one")]
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
mod linkage;
mod logging;
mod note;
mod port;
mod process;
mod prompt;
mod reference;
mod settings;
mod table;
mod tally;
mod terminal;
mod token;
mod transcript;
mod watch;
mod wish;

use std::process::ExitCode;

use clap::Parser;
use forge_tui::figures;

/// Gives memory back after a burst: a server that lives for weeks should be small again when it is quiet.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    command::Cli::parse().run().unwrap_or_else(|error| {
        eprintln!("forge: {error:#}");
        exit::of(&error).into()
    })
}
