//! Where a run is told: as text for people or as JSON lines for programs.
//!
//! Invariants: standard output has nothing but the transcript; in JSON that is one object a line with a `type`. On a
//! terminal a status may stand below it: the cursor stays where the transcript goes on, so the status is taken back by
//! erasing what is behind the cursor.

use anyhow::Result;
use forge_types::{EntryType, NormalizedEntry};
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
    /// Stands on the last row while an answer is typed.
    prompt: Option<String>,
    /// Stands below the transcript while nothing is asked.
    status: Option<Line>,
    /// Columns that the transcript has written on its last row.
    column: usize,
}

impl Screen {
    pub fn text() -> Self {
        let page = terminal::page();
        let transcript = Transcript::new(page);
        Self::Text(Box::new(Text { page, transcript, prompt: None, status: None, column: 0 }))
    }

    /// Puts a status below the transcript, or takes it away. For terminals only.
    pub fn status(&mut self, status: Option<Line>) -> Result<()> {
        let Self::Text(text) = self else { return Ok(()) };
        if text.prompt.is_some() || (status.is_none() && text.status.is_none()) {
            text.status = status;
            return Ok(());
        }
        let away = text.take_back();
        text.status = status;
        terminal::draw(&format!("{away}{}", text.below()))
    }

    /// An entry was added or changed.
    pub fn entry(&mut self, run: &str, change: &Value) -> Result<Option<(usize, NormalizedEntry)>> {
        let index = change["path"].as_str().and_then(|path| path.rsplit('/').next()?.parse::<usize>().ok());
        let content = &change["value"]["content"];
        let (Some(index), false) = (index, content.is_null()) else { return Ok(None) };
        match self {
            Self::Json => {
                let line = json!({"type": "entry", "run_id": run, "op": change["op"], "index": index, "entry": content});
                terminal::write(&format!("{line}\n"))?;
                Ok(Some((index, read_entry(content))))
            }
            Self::Text(text) => {
                let entry = read_entry(content);
                let words = text.transcript.take(index, &entry);
                text.print(&words)?;
                Ok(Some((index, entry)))
            }
        }
    }

    /// A script printed something.
    pub fn chunk(&mut self, run: &str, change: &Value) -> Result<()> {
        let value = &change["value"];
        let content = value["content"].as_str().unwrap_or_default();
        match self {
            Self::Json => {
                let line =
                    json!({"type": "output", "run_id": run, "stream": value["type"], "content": content});
                terminal::write(&format!("{line}\n"))
            }
            Self::Text(text) => {
                let words = text.transcript.chunk(content);
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

    /// Lines of our own that stand apart.
    pub fn part(&mut self, lines: &[Line]) -> Result<()> {
        let Self::Text(text) = self else { return Ok(()) };
        let words = text.transcript.part(lines);
        text.print(&words)
    }

    pub fn note(&mut self, words: &str) -> Result<()> {
        self.lines(&[Line::new(Ink::Dim, "· ").and(Ink::Dim, words)])
    }

    /// What only programs need.
    pub fn object(&mut self, object: &Value) -> Result<()> {
        match self {
            Self::Json => terminal::write(&format!("{object}\n")),
            Self::Text(_) => Ok(()),
        }
    }

    /// Nothing comes for a while: whatever was held back is shown.
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

    /// Asks for a line; the words stay below whatever is printed until [`Screen::clear_prompt`].
    pub fn prompt(&mut self, words: &str) -> Result<()> {
        let Self::Text(text) = self else { return Ok(()) };
        let pause = text.transcript.pause();
        let away = text.take_back();
        // The terminal may have shown what was typed to get here, such as ^C.
        terminal::draw(&format!("{away}{pause}\r\u{1b}[K{words}"))?;
        text.prompt = Some(words.to_owned());
        // Whoever ends a prompt begins a row.
        text.column = 0;
        Ok(())
    }

    /// The prompt was answered, or is not needed any more.
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
                let away = self.take_back();
                self.column = column_after(self.column, words);
                terminal::draw(&format!("{away}{words}{}", self.below()))
            }
            // Only a terminal has a prompt. Its row is taken back and written again below; a row must be whole first.
            Some(prompt) => {
                let rest = self.transcript.pause();
                let ink = self.page.paint(Ink::Plain, prompt);
                terminal::draw(&format!("\r\u{1b}[K{words}{rest}{ink}"))
            }
        }
    }

    /// Erases the status, and whatever was typed over it.
    fn take_back(&self) -> String {
        if self.status.is_none() || self.prompt.is_some() {
            return String::new();
        }
        match self.column {
            0 => "\r\u{1b}[J".to_owned(),
            // On a full row the cursor stands on the last character, which must stay.
            full if full >= self.page.width => format!("\r\n\u{1b}[J\u{1b}[A\u{1b}[{full}C"),
            column => format!("\r\u{1b}[{column}C\u{1b}[J"),
        }
    }

    /// Writes the status below the transcript and goes back to where that goes on.
    fn below(&self) -> String {
        let (Some(status), None) = (&self.status, &self.prompt) else { return String::new() };
        // A row that fills the terminal would move what stands above it; the width may have changed.
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

/// Where the cursor stands after `words`, if it stood at `column` before.
fn column_after(column: usize, words: &str) -> usize {
    match words.rsplit_once('\n') {
        Some((_, row)) => clean(row).width(),
        None => column + clean(words).width(),
    }
}

/// An entry of a kind that this program does not know is still shown as text.
fn read_entry(content: &Value) -> NormalizedEntry {
    serde_json::from_value(content.clone()).unwrap_or_else(|_| NormalizedEntry {
        timestamp: None,
        entry_type: EntryType::SystemMessage,
        content: content["content"].as_str().unwrap_or_default().to_owned(),
        metadata: None,
    })
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
    fn the_cursor_is_where_the_transcript_goes_on() {
        assert_eq!(column_after(3, "ab\u{1b}[2mcd\u{1b}[0m"), 7);
        assert_eq!(column_after(3, "ab\n漢字"), 4);
        assert_eq!(column_after(3, "ab\n"), 0);
        assert_eq!(text(0).below(), "status\r");
        assert_eq!(text(4).below(), "\nstatus\r\u{1b}[A\u{1b}[4C");
        assert_eq!(text(0).take_back(), "\r\u{1b}[J");
        assert_eq!(text(4).take_back(), "\r\u{1b}[4C\u{1b}[J");
        assert_eq!(text(10).take_back(), "\r\n\u{1b}[J\u{1b}[A\u{1b}[10C", "the last character stays");
    }

    #[test]
    fn a_prompt_has_the_last_row_for_itself() {
        let asking = Text { prompt: Some("allow? ".to_owned()), ..text(0) };
        assert_eq!((asking.below(), asking.take_back()), (String::new(), String::new()));
    }
}
