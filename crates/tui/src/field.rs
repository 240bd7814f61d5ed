//! A line that is being typed.
//!
//! Invariant: the cursor is always between two characters.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use unicode_width::UnicodeWidthStr;

use crate::text::clean;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Field {
    text: String,
    /// Cursor position in bytes.
    at: usize,
}

impl Field {
    pub(crate) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), at: text.len() }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Columns before the cursor.
    pub(crate) fn column(&self) -> usize {
        self.text[..self.at].width()
    }

    /// Handles an editing key; returns whether it was one.
    pub(crate) fn press(&mut self, event: &KeyEvent) -> bool {
        let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
        match event.code {
            KeyCode::Char('u') if ctrl => {
                self.text.drain(..self.at);
                self.at = 0;
            }
            KeyCode::Char('w') if ctrl => {
                let kept = self.text[..self.at].trim_end();
                let start = kept.rfind(' ').map_or(0, |space| space + 1);
                self.text.drain(start..self.at);
                self.at = start;
            }
            KeyCode::Char('a') if ctrl => self.at = 0,
            KeyCode::Char('e') if ctrl => self.at = self.text.len(),
            KeyCode::Char(c) if !ctrl && !event.modifiers.contains(KeyModifiers::ALT) => {
                self.text.insert(self.at, c);
                self.at += c.len_utf8();
            }
            KeyCode::Backspace => {
                if let Some(before) = self.before() {
                    self.text.remove(before);
                    self.at = before;
                }
            }
            KeyCode::Delete if self.at < self.text.len() => {
                self.text.remove(self.at);
            }
            KeyCode::Left => self.at = self.before().unwrap_or(0),
            KeyCode::Right => {
                self.at += self.text[self.at..].chars().next().map_or(0, char::len_utf8);
            }
            KeyCode::Home => self.at = 0,
            KeyCode::End => self.at = self.text.len(),
            _ => return false,
        }
        true
    }

    /// Pasted text becomes one line without control characters.
    pub(crate) fn paste(&mut self, text: &str) {
        let text = clean(text).trim_end_matches('\n').replace('\n', " ");
        self.text.insert_str(self.at, &text);
        self.at += text.len();
    }

    fn before(&self) -> Option<usize> {
        self.text[..self.at].char_indices().next_back().map(|(at, _)| at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(keys: &[(KeyCode, bool)]) -> Field {
        let mut field = Field::default();
        for (code, ctrl) in keys {
            let modifiers = if *ctrl { KeyModifiers::CONTROL } else { KeyModifiers::NONE };
            field.press(&KeyEvent::new(*code, modifiers));
        }
        field
    }

    #[test]
    fn characters_of_any_width_are_edited_whole() {
        let c = |c| (KeyCode::Char(c), false);
        let field = typed(&[c('漢'), c('ä'), (KeyCode::Left, false), (KeyCode::Backspace, false), c('x')]);
        assert_eq!((field.text(), field.column()), ("xä", 1));
        let field = typed(&[c('a'), c(' '), c('b'), c('c'), (KeyCode::Char('w'), true)]);
        assert_eq!(field.text(), "a ");
        let field = typed(&[c('a'), c('b'), (KeyCode::Home, false), (KeyCode::Delete, false)]);
        assert_eq!(field.text(), "b");
    }

    #[test]
    fn a_paste_is_one_harmless_line() {
        let mut field = Field::new("say ");
        field.paste("one\ntwo\u{1b}[2J\n");
        assert_eq!(field.text(), "say one two");
    }
}
