//! `forge man`: manual pages, one per command.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::CommandFactory;
use clap_mangen::Man;

use crate::command::Cli;
use crate::terminal::{self, say};
use crate::transcript::{Ink, Line};

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  forge man | man -l -\n  forge man ~/.local/share/man/man1")]
pub struct Flags {
    /// Folder for the pages, created if necessary [default: print forge(1)]
    dir: Option<PathBuf>,
}

pub fn run(flags: &Flags) -> Result<()> {
    let Some(dir) = &flags.dir else {
        let mut page = Vec::new();
        Man::new(Cli::command()).render(&mut page)?;
        terminal::print(&String::from_utf8(page)?);
        return Ok(());
    };
    let written = std::fs::create_dir_all(dir).and_then(|()| clap_mangen::generate_to(Cli::command(), dir));
    written.with_context(|| format!("cannot write the pages to {}", dir.display()))?;
    say(&Line::new(Ink::Green, "wrote ").and(Ink::Plain, &format!("the pages to {}", dir.display())).whole());
    Ok(())
}
