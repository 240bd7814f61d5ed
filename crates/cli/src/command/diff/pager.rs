//! The program that shows long text on a terminal.
//!
//! Invariant: it starts without a shell, and if it cannot start, the text is printed.

use std::io::Write;
use std::process::{Command, Stdio};

use anyhow::Result;

use crate::terminal;

/// Exits at once if the text fits, shows colours, leaves the text on the screen.
const USUAL: &str = "less -FRX";

pub struct Pager {
    words: Vec<String>,
}

impl Pager {
    /// The user's pager; empty or `cat` means none.
    pub fn open() -> Self {
        let chosen = std::env::var("FORGE_PAGER").or_else(|_| std::env::var("PAGER"));
        Self::of(chosen.as_deref().unwrap_or(USUAL))
    }

    fn of(command: &str) -> Self {
        let words = shlex::split(command).unwrap_or_default();
        Self { words: if words == ["cat"] { Vec::new() } else { words } }
    }

    pub fn show(&self, text: &str) -> Result<()> {
        let Some((program, arguments)) = self.words.split_first() else { return terminal::write(text) };
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped());
        let Ok(mut child) = command.spawn() else { return terminal::write(text) };
        if let Some(mut input) = child.stdin.take() {
            // It fails when the person quits the pager early.
            let _ = input.write_all(text.as_bytes());
        }
        child.wait()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_does_and_empty_means_no_pager() {
        assert_eq!(Pager::of("less -R '-p a b'").words, ["less", "-R", "-p a b"]);
        assert!(Pager::of("").words.is_empty() && Pager::of("cat").words.is_empty());
    }
}
