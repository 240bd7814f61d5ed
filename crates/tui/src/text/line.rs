//! Lines of coloured pieces, printed on a page of a given width.
//!
//! Invariant: colours do not change the text of a line; a line wider than its page is cut with an ellipsis, unless it
//! must be shown whole.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::clean;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    Plain,
    Bold,
    Dim,
    Red,
    Green,
    Yellow,
    Cyan,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    On,
    Off,
}

/// Where lines are printed.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Columns; `usize::MAX` if it is not a terminal.
    pub width: usize,
    pub colours: Colours,
}

impl Page {
    pub fn paint(self, ink: Ink, text: &str) -> String {
        let code = match ink {
            Ink::Plain => return text.to_owned(),
            Ink::Bold => "1",
            Ink::Dim => "2",
            Ink::Red => "31",
            Ink::Green => "32",
            Ink::Yellow => "33",
            Ink::Cyan => "36",
        };
        match self.colours {
            Colours::On if !text.is_empty() => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            _ => text.to_owned(),
        }
    }
}

/// One line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    pieces: Vec<(Ink, String)>,
    edge: Edge,
}

/// What happens to the part that does not fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Edge {
    #[default]
    Cut,
    /// The terminal wraps it.
    Leave,
}

impl Line {
    pub fn new(ink: Ink, text: &str) -> Self {
        Self::default().and(ink, text)
    }

    /// The text may be untrusted: it is cleaned and stays on the line.
    pub fn and(mut self, ink: Ink, text: &str) -> Self {
        self.pieces.push((ink, clean(text).replace('\n', " ")));
        self
    }

    /// This line in one colour, after a prefix.
    pub fn after(&self, ink: Ink, start: &str) -> Self {
        let text: String = self.pieces.iter().map(|(_, text)| text.as_str()).collect();
        Self::new(ink, &format!("{start}{text}"))
    }

    /// Shown whole, whatever the width.
    pub fn whole(self) -> Self {
        Self { edge: Edge::Leave, ..self }
    }

    /// The pieces, without control characters.
    pub(crate) fn pieces(&self) -> &[(Ink, String)] {
        &self.pieces
    }

    pub fn put(&self, page: Page, out: &mut String) {
        let mut room = page.width;
        let whole: usize = self.pieces.iter().map(|(_, text)| text.width()).sum();
        let fits = whole <= room || self.edge == Edge::Leave;
        if !fits {
            room = room.saturating_sub(1);
        }
        for (ink, text) in &self.pieces {
            let part = if fits { text.as_str() } else { beginning(text, room) };
            room = room.saturating_sub(part.width());
            out.push_str(&page.paint(*ink, part));
            if part.len() < text.len() {
                break;
            }
        }
        if !fits {
            out.push('…');
        }
        out.push('\n');
    }
}

/// The beginning of `text` that fits the columns.
pub fn beginning(text: &str, columns: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > columns {
            return &text[..at];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(width: usize, colours: Colours, line: &Line) -> String {
        let mut out = String::new();
        line.put(Page { width, colours }, &mut out);
        out
    }

    #[test]
    fn a_line_is_cut_at_the_width_and_says_so() {
        let line = Line::new(Ink::Cyan, "$ ").and(Ink::Plain, "cargo test\nmore");
        assert_eq!(put(80, Colours::Off, &line), "$ cargo test more\n");
        assert_eq!(put(8, Colours::Off, &line), "$ cargo…\n");
        assert_eq!(put(8, Colours::On, &line), "\u{1b}[36m$ \u{1b}[0mcargo…\n");
        assert_eq!(put(17, Colours::Off, &line), "$ cargo test more\n");
    }

    #[test]
    fn wide_characters_count_twice() {
        let line = Line::new(Ink::Plain, "漢字漢字");
        assert_eq!(put(8, Colours::Off, &line), "漢字漢字\n");
        assert_eq!(put(6, Colours::Off, &line), "漢字…\n");
    }
}
