//! `forge completions`: what a shell needs to complete commands and flags.

use anyhow::Result;
use clap::CommandFactory;
use clap_complete::Shell;

use crate::command::Cli;
use crate::terminal;

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  forge completions bash > ~/.local/share/bash-completion/completions/forge\n  \
                        forge completions zsh > ~/.zfunc/_forge\n  \
                        forge completions fish > ~/.config/fish/completions/forge.fish"
)]
pub struct Flags {
    #[arg(value_enum)]
    shell: Shell,
}

pub fn run(flags: &Flags) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(flags.shell, &mut Cli::command(), "forge", &mut script);
    terminal::print(&String::from_utf8(script)?);
    Ok(())
}
