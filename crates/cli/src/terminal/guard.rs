//! Makes foreign text safe for a terminal.
//!
//! Invariant: of control characters, only line breaks and tabs pass, and colours where wanted, however the
//! text is split. Nothing is hidden: a control character becomes its name, and only
//! complete control sequences are removed. A string such as a title has no certain end, so its
//! content is shown rather than removed with everything after it.

use crate::transcript::Colours;

/// No program writes longer control sequences.
const MAX_SEQUENCE: usize = 64;
const ESCAPE: char = '\u{1b}';

pub struct Guard {
    colours: Colours,
    /// The beginning of a character or control sequence that the next piece may complete.
    held: Vec<u8>,
    /// The last character was a carriage return, printed as a line break.
    returned: bool,
    /// A colour is on.
    painted: bool,
}

/// A control sequence at the start of a text.
enum Sequence {
    /// Its length in bytes, and its last byte.
    Whole(usize, u8),
    /// The whole text is the beginning of one.
    Begun,
    None,
}

impl Guard {
    /// Colours pass where the output of agents is shown as it is.
    pub fn new(colours: Colours) -> Self {
        Self { colours, held: Vec::new(), returned: false, painted: false }
    }

    /// A text as a whole.
    pub fn whole(colours: Colours, text: &str) -> String {
        let mut guard = Self::new(colours);
        guard.pass(text.as_bytes()) + &guard.end()
    }

    /// The safe form of the next piece. Invalid UTF-8 becomes U+FFFD.
    pub fn pass(&mut self, bytes: &[u8]) -> String {
        self.held.extend_from_slice(bytes);
        let bytes = std::mem::take(&mut self.held);
        let mut out = String::with_capacity(bytes.len());
        let mut rest = &bytes[..];
        loop {
            let (text, error) = match std::str::from_utf8(rest) {
                Ok(text) => (text, None),
                Err(error) => {
                    let valid = &rest[..error.valid_up_to()];
                    (std::str::from_utf8(valid).unwrap_or_default(), Some(error))
                }
            };
            let at_end = error.is_none_or(|error| error.error_len().is_none());
            let taken = self.show(text, at_end, &mut out);
            match error.and_then(|error| error.error_len()) {
                Some(wrong) => {
                    self.put(char::REPLACEMENT_CHARACTER, &mut out);
                    rest = &rest[text.len() + wrong..];
                }
                None => {
                    self.held = rest[taken..].to_vec();
                    return out;
                }
            }
        }
    }

    /// At the end: shows what was held back, and resets colours.
    pub fn end(&mut self) -> String {
        let mut out = String::new();
        for c in String::from_utf8_lossy(&std::mem::take(&mut self.held)).chars() {
            self.put(c, &mut out);
        }
        if std::mem::take(&mut self.painted) {
            out.push_str("\u{1b}[0m");
        }
        out
    }

    /// Returns how much of the text was handled: all of it, or up to the beginning of an incomplete sequence.
    fn show(&mut self, text: &str, at_end: bool, out: &mut String) -> usize {
        let mut place = 0;
        while let Some(c) = text[place..].chars().next() {
            let rest = &text[place..];
            place += match sequence(rest) {
                Sequence::Whole(length, last) => {
                    if last == b'm' && self.colours == Colours::On {
                        out.push_str(&rest[..length]);
                        self.painted = !matches!(&rest[..length], "\u{1b}[m" | "\u{1b}[0m");
                    }
                    length
                }
                Sequence::Begun if at_end => return place,
                _ => {
                    self.put(c, out);
                    c.len_utf8()
                }
            };
        }
        place
    }

    fn put(&mut self, c: char, out: &mut String) {
        let returned = std::mem::replace(&mut self.returned, c == '\r');
        match c {
            '\n' if returned => {}
            // A terminal would overwrite this text with the next.
            '\r' | '\n' => out.push('\n'),
            '\t' => out.push('\t'),
            '\0'..='\u{1f}' | '\u{7f}' => out.extend(['^', char::from(c as u8 ^ 0x40)]),
            '\u{80}'..='\u{9f}' => out.push_str(&format!("<U+{:04X}>", u32::from(c))),
            c if forge_tui::text::turns_direction(c) => out.push_str(&format!("<U+{:04X}>", u32::from(c))),
            c => out.push(c),
        }
    }
}

/// The control sequence that a text begins with.
fn sequence(text: &str) -> Sequence {
    let Some(rest) = text.strip_prefix(ESCAPE) else { return Sequence::None };
    let Some(rest) = rest.strip_prefix('[') else {
        return if rest.is_empty() { Sequence::Begun } else { Sequence::None };
    };
    let inner = rest.bytes().take(MAX_SEQUENCE).position(|byte| !(0x20..=0x3f).contains(&byte));
    match inner.map(|place| (place, rest.as_bytes()[place])) {
        Some((place, last @ 0x40..=0x7e)) => {
            // Colours have only numbers; `ESC[>4m` and the like are something else.
            let is_colour = rest[..place].bytes().all(|byte| matches!(byte, b'0'..=b'9' | b';' | b':'));
            Sequence::Whole(place + 3, if last == b'm' && !is_colour { 0 } else { last })
        }
        None if rest.len() < MAX_SEQUENCE => Sequence::Begun,
        _ => Sequence::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the text gives the same result whole, in any two pieces, and byte by byte.
    fn shown(bytes: &[u8]) -> String {
        let of = |pieces: &[&[u8]]| {
            let mut guard = Guard::new(Colours::On);
            pieces.iter().map(|piece| guard.pass(piece)).collect::<String>() + &guard.end()
        };
        let whole = of(&[bytes]);
        for at in 0..=bytes.len() {
            assert_eq!(of(&[&bytes[..at], &bytes[at..]]), whole, "{bytes:?} in two at {at}");
        }
        let every: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(of(&every), whole, "{bytes:?} byte by byte");
        whole
    }

    #[test]
    fn only_colours_line_breaks_and_tabs_pass() {
        for (text, want) in [
            ("plain ü 漢\n\tx", "plain ü 漢\n\tx"),
            ("\u{1b}[31;1mred\u{1b}[0m", "\u{1b}[31;1mred\u{1b}[0m"),
            ("\u{1b}[38:2::1:2:3mx\u{1b}[m", "\u{1b}[38:2::1:2:3mx\u{1b}[m"),
            ("a\u{1b}[2J\u{1b}[1;1Hb\u{1b}[?25l\u{1b}[>4;1m\u{1b}[ q", "ab"),
            ("\u{1b}]52;c;aGk=\u{7}x", "^[]52;c;aGk=^Gx"),
            ("\u{1b}]0;title\u{1b}\\x", "^[]0;title^[\\x"),
            ("\u{1b}Pq\u{1b}_a\u{1b}^p\u{1b}Xs\u{1b}c\u{1b}(0", "^[Pq^[_a^[^p^[Xs^[c^[(0"),
            ("\u{1b}]unterminated\nnext", "^[]unterminated\nnext"),
            ("\u{9b}2Jx\u{9d}0;t\u{9c}\u{85}", "<U+009B>2Jx<U+009D>0;t<U+009C><U+0085>"),
            ("a\u{8}\u{8}b\0\u{7f}\u{c}\u{b}", "a^H^Hb^@^?^L^K"),
            ("one\r\ntwo\rthree\r", "one\ntwo\nthree\n"),
            ("\r\r\n\n", "\n\n\n"),
            ("safe\u{202e}txt.exe", "safe<U+202E>txt.exe"),
            ("\u{1b}[12\u{1b}[31mx\u{1b}[0m", "^[[12\u{1b}[31mx\u{1b}[0m"),
            ("\u{1b}[1", "^[[1"),
            ("\u{1b}", "^["),
            ("\u{1b}[8mhidden", "\u{1b}[8mhidden\u{1b}[0m"),
        ] {
            assert_eq!(shown(text.as_bytes()), want, "{text:?}");
        }
        let long = format!("\u{1b}[{}m", "1;".repeat(100));
        assert_eq!(shown(long.as_bytes()), format!("^[[{}m", "1;".repeat(100)));
    }

    #[test]
    fn invalid_text_is_marked() {
        for (bytes, want) in [
            (&b"a\xff\xfeb"[..], "a\u{fffd}\u{fffd}b"),
            (b"\x9b31m", "\u{fffd}31m"),
            (b"\xe2\x82", "\u{fffd}"),
            (b"\x1b[\xc3\xa4", "^[[\u{e4}"),
            (b"\x1b[3\xffm", "^[[3\u{fffd}m"),
            (b"\xc2\x9b2J", "<U+009B>2J"),
        ] {
            assert_eq!(shown(bytes), want, "{bytes:?}");
        }
    }

    #[test]
    fn colours_stay_out_where_they_are_not_wanted() {
        assert_eq!(Guard::whole(Colours::Off, "\u{1b}[31mred\u{1b}[0m \u{1b}]0;t\u{7}"), "red ^[]0;t^G");
    }
}
