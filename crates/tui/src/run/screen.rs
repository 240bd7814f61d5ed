//! The terminal: taken, lent to a command, and restored.
//!
//! Invariant: it is restored on every exit, even after a panic.

use std::io::stdout;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result};
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::execute;
use crossterm::style::Print;
use crossterm::terminal::{EnterAlternateScreen, enable_raw_mode};
use ratatui::DefaultTerminal;
use ratatui::layout::Rect;

use crate::draw::draw;
use crate::message::Attach;
use crate::state::State;

pub(crate) struct Screen {
    terminal: DefaultTerminal,
}

impl Screen {
    pub(crate) fn enter() -> Result<Self> {
        // This also restores the terminal after a panic.
        let terminal = ratatui::try_init().context("cannot take the terminal")?;
        accept_pastes();
        Ok(Self { terminal })
    }

    pub(crate) fn size(&self) -> (u16, u16) {
        self.terminal.size().map_or((80, 24), |size| (size.width, size.height))
    }

    pub(crate) fn draw(&mut self, state: &State) -> Result<()> {
        self.terminal.draw(|frame| draw(state, frame)).context("cannot write to the terminal")?;
        Ok(())
    }

    /// Redraws everything, whatever is on the screen.
    pub(crate) fn repaint(&mut self, state: &State) -> Result<()> {
        // `clear` would query the cursor position, and the reply would arrive as keys.
        let (width, height) = self.size();
        let whole = Rect { width, height, ..Rect::default() };
        self.terminal.resize(whole).context("cannot write to the terminal")?;
        self.draw(state)
    }

    /// Hands the terminal to a command until it ends; the inner result is the command's.
    pub(crate) async fn lend(&mut self, program: &Path, attach: &Attach) -> Result<Result<(), String>> {
        restore();
        let mut command = tokio::process::Command::new(program);
        command.args(&attach.args).stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::piped());
        let ended = command.kill_on_drop(true).spawn();
        let ended = match ended {
            Ok(child) => child.wait_with_output().await,
            Err(error) => Err(error),
        };
        if attach.is_read && ended.is_ok() {
            wait_for_enter().await;
        }
        enable_raw_mode()
            .and_then(|()| execute!(stdout(), EnterAlternateScreen))
            .context("cannot take the terminal")?;
        accept_pastes();
        Ok(match ended {
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
                if output.status.success() || said.is_empty() { Ok(()) } else { Err(said) }
            }
            Err(error) => Err(format!("cannot start {}: {error}", program.display())),
        })
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// A terminal that cannot ring is silent.
pub(crate) fn ring() {
    let _ = execute!(stdout(), Print('\u{7}'));
}

/// Waits until the person has read the output.
async fn wait_for_enter() {
    println!("\n-- Press Enter to return to the dashboard");
    let mut line = String::new();
    let _ = tokio::task::spawn_blocking(move || std::io::stdin().read_line(&mut line)).await;
}

/// Terminals that do not support it send pasted text as keys.
fn accept_pastes() {
    let _ = execute!(stdout(), EnableBracketedPaste);
}

/// A terminal that is gone cannot be restored and need not be.
fn restore() {
    let _ = execute!(stdout(), DisableBracketedPaste);
    let _ = ratatui::try_restore();
}
