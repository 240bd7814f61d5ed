//! Text that arrives in pieces, wrapped into rows.
//!
//! Invariants: however the text is split, the rows are the same; a word is written once it is complete, fills a
//! row, or nothing more arrives ([`Flow::rest`]); trailing blank lines are never written.

use unicode_width::UnicodeWidthChar;
use unicode_width::UnicodeWidthStr;

use super::{Ink, Page, beginning};

pub struct Flow {
    page: Page,
    ink: Ink,
    mark: &'static str,
    /// Columns written on the current row; `None` before its first word.
    column: Option<usize>,
    /// The indentation of the current line, repeated on its further rows.
    indent: usize,
    gap: usize,
    word: String,
    /// Line breaks to write before the next word.
    breaks: usize,
    first: bool,
}

impl Flow {
    /// `mark` comes before the first row; the others are indented by its width.
    pub fn new(page: Page, ink: Ink, mark: &'static str) -> Self {
        Self { page, ink, mark, column: None, indent: 0, gap: 0, word: String::new(), breaks: 0, first: true }
    }

    pub fn push(&mut self, text: &str, out: &mut String) {
        let mut rows = String::new();
        for c in text.chars() {
            match c {
                '\n' => {
                    self.write_word(&mut rows);
                    self.breaks += usize::from(!self.first);
                    (self.column, self.gap) = (None, 0);
                }
                ' ' => {
                    self.write_word(&mut rows);
                    self.gap += 1;
                }
                c => {
                    self.word.push(c);
                    if self.word.width() + c.width().unwrap_or(0) > self.room() {
                        self.write_word(&mut rows);
                    }
                }
            }
        }
        out.push_str(&self.page.paint(self.ink, &rows));
    }

    /// Writes the held-back part of the last word, as nothing more arrives for now. Later text continues right there.
    pub fn rest(&mut self, out: &mut String) {
        let mut rows = String::new();
        self.write_word(&mut rows);
        out.push_str(&self.page.paint(self.ink, &rows));
    }

    pub fn end(&mut self, out: &mut String) {
        self.rest(out);
        if !self.first {
            out.push('\n');
        }
    }

    /// Columns for text on a row.
    fn room(&self) -> usize {
        self.page.width.saturating_sub(self.mark.width()).max(1)
    }

    fn write_word(&mut self, rows: &mut String) {
        let word = std::mem::take(&mut self.word);
        let mut word = word.as_str();
        while !word.is_empty() {
            let room = self.room();
            match self.column {
                None => self.begin_row(rows),
                Some(column) if column + self.gap + word.width() > room && column > self.indent => {
                    rows.push('\n');
                    rows.push_str(&" ".repeat(self.mark.width() + self.indent));
                    self.column = Some(self.indent);
                }
                Some(column) => {
                    rows.push_str(&" ".repeat(self.gap));
                    self.column = Some(column + self.gap);
                }
            }
            self.gap = 0;
            let column = self.column.unwrap_or(0);
            let mut part = beginning(word, room.saturating_sub(column));
            if part.is_empty() {
                // Not even one character fits: write it anyway, or this would never end.
                part = &word[..word.chars().next().map_or(word.len(), char::len_utf8)];
            }
            rows.push_str(part);
            self.column = Some(column + part.width());
            word = &word[part.len()..];
        }
    }

    /// The first row of a line, with its indentation.
    fn begin_row(&mut self, rows: &mut String) {
        rows.push_str(&"\n".repeat(self.breaks.min(2)));
        self.breaks = 0;
        match std::mem::take(&mut self.first) {
            true => rows.push_str(self.mark),
            false => rows.push_str(&" ".repeat(self.mark.width())),
        }
        self.indent = self.gap.min(self.room() / 2);
        rows.push_str(&" ".repeat(self.indent));
        self.column = Some(self.indent);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Colours;
    use super::*;

    fn rows(width: usize, mark: &'static str, pieces: &[&str]) -> String {
        let mut flow = Flow::new(Page { width, colours: Colours::Off }, Ink::Plain, mark);
        let mut out = String::new();
        pieces.iter().for_each(|piece| flow.push(piece, &mut out));
        flow.end(&mut out);
        out
    }

    #[test]
    fn text_wraps_at_words_and_keeps_its_indentation() {
        let text = "one two three four\n  indented line that wraps\n\n\n\nend\n\n";
        assert_eq!(rows(12, "", &[text]), "one two\nthree four\n  indented\n  line that\n  wraps\n\nend\n");
        assert_eq!(rows(12, "! ", &["one two three"]), "! one two\n  three\n");
        assert_eq!(rows(usize::MAX, "", &[text]).lines().count(), 4);
    }

    #[test]
    fn a_word_longer_than_a_row_is_broken() {
        assert_eq!(rows(5, "", &["abcdefghijkl m"]), "abcde\nfghij\nkl m\n");
        assert_eq!(rows(5, "", &["a abcdefgh"]), "a\nabcde\nfgh\n");
        assert_eq!(rows(1, "漢 ", &["漢字"]).lines().count(), 2);
    }

    #[test]
    fn a_word_that_was_written_in_part_continues_where_it_stopped() {
        let mut flow = Flow::new(Page { width: 12, colours: Colours::Off }, Ink::Plain, "");
        let mut out = String::new();
        flow.push("one tw", &mut out);
        assert_eq!(out, "one");
        flow.rest(&mut out);
        assert_eq!(out, "one tw");
        flow.push("o three", &mut out);
        flow.end(&mut out);
        assert_eq!(out, "one two\nthree\n");
    }

    #[test]
    fn pieces_make_no_difference() {
        let text = "A sentence that is   cut\n  - anywhere: averyveryverylongword, 漢字漢字 and so on.\n\n    code {}\n";
        let whole = rows(14, "~ ", &[text]);
        for (at, _) in text.char_indices() {
            assert_eq!(rows(14, "~ ", &[&text[..at], &text[at..]]), whole, "cut at {at}");
        }
        let single: Vec<String> = text.chars().map(String::from).collect();
        let single: Vec<&str> = single.iter().map(String::as_str).collect();
        assert_eq!(rows(14, "~ ", &single), whole);
        assert!(whole.lines().all(|row| row.width() <= 14), "{whole}");
    }
}
