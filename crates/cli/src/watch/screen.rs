//! Where a run is told: as text for people or as JSON lines for programs.
//!
//! Invariant: standard output has nothing but the transcript; in JSON that is one object a line with a `type`.

use std::io::Write;

use anyhow::{Context, Result};
use forge_types::{EntryType, NormalizedEntry};
use serde_json::{Value, json};

use crate::terminal;
use crate::transcript::{Ink, Line, Page, Transcript};

pub enum Screen {
    Text(Box<Text>),
    Json,
}

pub struct Text {
    page: Page,
    transcript: Transcript,
    /// Stands on the last row while an answer is typed.
    prompt: Option<String>,
}

impl Screen {
    pub fn text() -> Self {
        let page = terminal::page();
        Self::Text(Box::new(Text { page, transcript: Transcript::new(page), prompt: None }))
    }

    /// An entry was added or changed.
    pub fn entry(&mut self, run: &str, change: &Value) -> Result<Option<(usize, NormalizedEntry)>> {
        let index = change["path"].as_str().and_then(|path| path.rsplit('/').next()?.parse::<usize>().ok());
        let content = &change["value"]["content"];
        let (Some(index), false) = (index, content.is_null()) else { return Ok(None) };
        match self {
            Self::Json => {
                let line = json!({"type": "entry", "run_id": run, "op": change["op"], "index": index, "entry": content});
                print(&format!("{line}\n"))?;
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
                print(&format!("{line}\n"))
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
            Self::Json => print(&format!("{object}\n")),
            Self::Text(_) => Ok(()),
        }
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
        text.print(&pause)?;
        print(words)?;
        text.prompt = Some(words.to_owned());
        Ok(())
    }

    /// The prompt was answered, or is not needed any more.
    pub fn clear_prompt(&mut self, answered: Answered) -> Result<()> {
        let Self::Text(text) = self else { return Ok(()) };
        match (text.prompt.take(), answered) {
            (Some(_), Answered::Elsewhere) => print("\n"),
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
            None => print(words),
            // Only a terminal has a prompt. Its row is taken back and written again below; a row must be whole first.
            Some(prompt) => {
                let rest = self.transcript.pause();
                let ink = self.page.paint(Ink::Plain, prompt);
                print(&format!("\r\u{1b}[K{words}{rest}{ink}"))
            }
        }
    }
}

fn print(words: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(words.as_bytes()).and_then(|()| out.flush()).context("cannot write to standard output")
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
