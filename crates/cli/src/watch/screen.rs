//! Where a run is shown: as text for people or as JSON lines for programs.
//!
//! Invariants: standard output has only the transcript; in JSON that is one object per line with a `type`. On a
//! terminal a status may be shown below it: the cursor stays where the transcript continues, so the status is removed
//! by erasing everything after the cursor.

use anyhow::Result;
use forge_types::wire::{PatchOp, RawLogEntry};
use forge_types::{NormalizedEntry, RunId};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use crate::terminal;
use crate::transcript::{Ink, Line, Page, Transcript, clean};

pub enum Screen {
    Text(Box<Text>),
    Json,
}

pub struct Text {
    page: Page,
    transcript: Transcript,
    /// Shown on the last row while an answer is typed.
    prompt: Option<String>,
    /// Shown below the transcript while there is no question.
    status: Option<Line>,
    /// Columns that the transcript has used on its last row.
    column: usize,
}

impl Screen {
    pub fn text() -> Self {
        let page = terminal::page();
        let transcript = Transcript::new(page);
        Self::Text(Box::new(Text { page, transcript, prompt: None, status: None, column: 0 }))
    }

    /// Shows a status below the transcript, or removes it. For terminals only.
    pub fn status(&mut self, status: Option<Line>) -> Result<()> {
        let Self::Text(text) = self else { return Ok(()) };
        if text.prompt.is_some() || (status.is_none() && text.status.is_none()) {
            text.status = status;
            return Ok(());
        }
        let away = text.erase_status();
        text.status = status;
        terminal::draw(&format!("{away}{}", text.below()))
    }

    /// An entry was added or changed.
    pub fn entry(&mut self, run: RunId, change: &PatchOp) -> Result<Option<(usize, NormalizedEntry)>> {
        let index = change.path.rsplit('/').next().and_then(|index| index.parse::<usize>().ok());
        let (Some(index), Some(content)) = (index, change.content()) else { return Ok(None) };
        let entry = NormalizedEntry::read(content);
        match self {
            Self::Json => {
                let line = json!({"type": "entry", "run_id": run, "op": change.op, "index": index, "entry": content});
                terminal::write(&format!("{line}\n"))?;
                Ok(Some((index, entry)))
            }
            Self::Text(text) => {
                let words = text.transcript.take(index, &entry);
                text.print(&words)?;
                Ok(Some((index, entry)))
            }
        }
    }

    /// A script printed something.
    pub fn chunk(&mut self, run: RunId, change: &PatchOp) -> Result<()> {
        let Some(chunk) = change.read::<RawLogEntry>() else { return Ok(()) };
        match self {
            Self::Json => {
                let RawLogEntry { r#type: stream, content, .. } = chunk;
                let line = json!({"type": "output", "run_id": run, "stream": stream, "content": content});
                terminal::write(&format!("{line}\n"))
            }
            Self::Text(text) => {
                let words = text.transcript.chunk(&chunk.content);
                text.print(&words)
            }
        }
    }

    /// Lines of our own; programs do not need them.
    pub fn lines(&mut self, lines: &[Line]) -> Result<()> {
        let Self::Text(text) = self else { return Ok(()) };
        let words = text.transcript.lines(lines);
        text.print(&words)
    }

    /// A line about a script.
    pub fn script(&mut self, line: Line) -> Result<()> {
        let Self::Text(text) = self else { return Ok(()) };
        let words = text.transcript.deed(&[line]);
        text.print(&words)
    }

    /// Lines of our own, separated from the rest.
    pub fn part(&mut self, lines: &[Line]) -> Result<()> {
        let Self::Text(text) = self else { return Ok(()) };
        let words = text.transcript.part(lines);
        text.print(&words)
    }

    pub fn note(&mut self, words: &str) -> Result<()> {
        self.lines(&[Line::new(Ink::Dim, "· ").and(Ink::Dim, words)])
    }

    /// Printed only for programs.
    pub fn object(&mut self, object: &Value) -> Result<()> {
        match self {
            Self::Json => terminal::write(&format!("{object}\n")),
            Self::Text(_) => Ok(()),
        }
    }

    /// Shows what was held back, as nothing more arrives for now.
    pub fn rest(&mut self) -> Result<()> {
        let Self::Text(text) = self else { return Ok(()) };
        let words = text.transcript.rest();
        text.print(&words)
    }

    /// The entries of another run follow.
    pub fn turn(&mut self) -> Result<()> {
        let Self::Text(text) = self else { return Ok(()) };
        let words = text.transcript.turn();
        text.print(&words)
    }

    /// Asks for a line; the prompt stays below everything printed until [`Screen::clear_prompt`].
    pub fn prompt(&mut self, words: &str) -> Result<()> {
        let Self::Text(text) = self else { return Ok(()) };
        let pause = text.transcript.pause();
        let away = text.erase_status();
        // The terminal may have echoed a typed key, such as ^C.
        terminal::draw(&format!("{away}{pause}\r\u{1b}[K{words}"))?;
        text.prompt = Some(words.to_owned());
        // The end of a prompt begins a new row.
        text.column = 0;
        Ok(())
    }

    /// The prompt was answered, or is no longer needed.
    pub fn clear_prompt(&mut self, answered: Answered) -> Result<()> {
        let Self::Text(text) = self else { return Ok(()) };
        match (text.prompt.take(), answered) {
            (Some(_), Answered::Elsewhere) => terminal::write("\n"),
            _ => Ok(()),
        }
    }
}

/// Whether the person typed the line break that ends a prompt.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Answered {
    Here,
    Elsewhere,
}

impl Text {
    fn print(&mut self, words: &str) -> Result<()> {
        if words.is_empty() {
            return Ok(());
        }
        match &self.prompt {
            None => {
                let away = self.erase_status();
                self.column = column_after(self.column, words);
                terminal::draw(&format!("{away}{words}{}", self.below()))
            }
            // Only a terminal has a prompt. Its row is erased and written again below; a row must be complete first.
            Some(prompt) => {
                let rest = self.transcript.pause();
                let ink = self.page.paint(Ink::Plain, prompt);
                terminal::draw(&format!("\r\u{1b}[K{words}{rest}{ink}"))
            }
        }
    }

    /// Erases the status, and anything typed over it.
    fn erase_status(&self) -> String {
        if self.status.is_none() || self.prompt.is_some() {
            return String::new();
        }
        match self.column {
            0 => "\r\u{1b}[J".to_owned(),
            // On a full row the cursor is on the last character, which must stay.
            full if full >= self.page.width => format!("\r\n\u{1b}[J\u{1b}[A\u{1b}[{full}C"),
            column => format!("\r\u{1b}[{column}C\u{1b}[J"),
        }
    }

    /// Writes the status below the transcript and returns to where that continues.
    fn below(&self) -> String {
        let (Some(status), None) = (&self.status, &self.prompt) else { return String::new() };
        // A row that fills the terminal would move the rows above it; the width may have changed.
        let width = terminal::page().width.saturating_sub(1);
        let mut row = String::new();
        status.put(Page { width, ..self.page }, &mut row);
        let row = row.trim_end_matches('\n');
        match self.column {
            0 => format!("{row}\r"),
            column => format!("\n{row}\r\u{1b}[A\u{1b}[{column}C"),
        }
    }
}

/// The cursor's column after `words`, starting from `column`.
fn column_after(column: usize, words: &str) -> usize {
    match words.rsplit_once('\n') {
        Some((_, row)) => clean(row).width(),
        None => column + clean(words).width(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::Colours;

    fn text(column: usize) -> Text {
        let page = Page { width: 10, colours: Colours::Off };
        let status = Some(Line::new(Ink::Plain, "status"));
        Text { page, transcript: Transcript::new(page), prompt: None, status, column }
    }

    #[test]
    fn the_cursor_is_where_the_transcript_continues() {
        assert_eq!(column_after(3, "ab\u{1b}[2mcd\u{1b}[0m"), 7);
        assert_eq!(column_after(3, "ab\n漢字"), 4);
        assert_eq!(column_after(3, "ab\n"), 0);
        assert_eq!(text(0).below(), "status\r");
        assert_eq!(text(4).below(), "\nstatus\r\u{1b}[A\u{1b}[4C");
        assert_eq!(text(0).erase_status(), "\r\u{1b}[J");
        assert_eq!(text(4).erase_status(), "\r\u{1b}[4C\u{1b}[J");
        assert_eq!(text(10).erase_status(), "\r\n\u{1b}[J\u{1b}[A\u{1b}[10C", "the last character stays");
    }

    #[test]
    fn a_prompt_has_the_last_row_for_itself() {
        let asking = Text { prompt: Some("allow? ".to_owned()), ..text(0) };
        assert_eq!((asking.below(), asking.erase_status()), (String::new(), String::new()));
    }
}
