//! Lines from chunks.
//!
//! Owns the partial line between two chunks. Invariant: the lines do not depend on how the bytes were cut into
//! chunks, and at most [`MAX_LINE_BYTES`] are buffered here. A longer line is counted instead of kept.

use std::borrow::Cow;

pub(crate) const MAX_LINE_BYTES: usize = 8 << 20;

#[derive(Default)]
pub(crate) struct Lines {
    partial: Vec<u8>,
    /// Bytes of the current line that were dropped because the line is too long.
    dropped: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    Whole(&'a [u8]),
    TooLong { bytes: usize },
}

impl Lines {
    /// Calls `each` with every line that `chunk` completes, without its line end.
    pub fn push(&mut self, mut chunk: &[u8], mut each: impl FnMut(Line<'_>)) {
        while let Some(end) = memchr::memchr(b'\n', chunk) {
            let (line, rest) = (&chunk[..end], &chunk[end + 1..]);
            chunk = rest;
            if self.partial.is_empty() && self.dropped == 0 && line.len() <= MAX_LINE_BYTES {
                each(Line::Whole(without_return(line)));
            } else {
                self.keep(line);
                self.flush(&mut each);
            }
        }
        self.keep(chunk);
    }

    /// Calls `each` with the last line when it has no line end.
    pub fn finish(&mut self, mut each: impl FnMut(Line<'_>)) {
        if !self.partial.is_empty() || self.dropped > 0 {
            self.flush(&mut each);
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.dropped == 0 && self.partial.len() + bytes.len() <= MAX_LINE_BYTES {
            self.partial.extend_from_slice(bytes);
        } else {
            self.dropped += self.partial.len() + bytes.len();
            self.partial = Vec::new();
        }
    }

    fn flush(&mut self, each: &mut impl FnMut(Line<'_>)) {
        match std::mem::take(&mut self.dropped) {
            0 => each(Line::Whole(without_return(&self.partial))),
            bytes => each(Line::TooLong { bytes }),
        }
        self.partial.clear();
    }
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The text in place of a line that was too long to keep.
pub(crate) fn omitted(bytes: usize) -> String {
    format!("line of {bytes} bytes omitted from the readable log")
}

/// The line with its colours: only escape sequences that style text are kept. `None` when it has none.
pub(crate) fn coloured(line: &[u8]) -> Option<String> {
    if !line.contains(&b'\x1b') {
        return None;
    }
    let text = String::from_utf8_lossy(line);
    let mut out = String::with_capacity(text.len());
    let mut seen = false;
    for (at, part) in text.split('\u{1b}').enumerate() {
        let end = part.find(|c| !matches!(c, '[' | ';' | ':' | '0'..='9')).unwrap_or(part.len());
        let is_look = at > 0 && part.starts_with('[') && part[end..].starts_with('m');
        if is_look {
            seen = true;
            out.push('\u{1b}');
            out.push_str(&part[..=end]);
            out.push_str(&clean(&part.as_bytes()[end + 1..]));
        } else if at == 0 {
            out.push_str(&clean(part.as_bytes()));
        } else {
            out.push_str(&clean(format!("\u{1b}{part}").as_bytes()));
        }
    }
    seen.then_some(out)
}

/// The line as a terminal would finally show it: no escape sequences, no control characters, and only the last
/// state of a line that was overwritten by carriage returns.
pub(crate) fn clean(line: &[u8]) -> Cow<'_, str> {
    if line.iter().all(|byte| *byte >= b' ' || *byte == b'\t') {
        return String::from_utf8_lossy(line);
    }
    let text = String::from_utf8_lossy(line);
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            '\r' => out.clear(),
            '\t' => out.push(c),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

fn skip_escape(chars: &mut std::str::Chars<'_>) {
    match chars.next() {
        Some('[') => {
            chars.find(|c| ('@'..='~').contains(c));
        }
        Some(']' | 'P' | '_' | '^') => {
            while let Some(c) = chars.next() {
                match c {
                    '\u{7}' => return,
                    '\u{1b}' => {
                        chars.next();
                        return;
                    }
                    _ => {}
                }
            }
        }
        Some('(' | ')' | '#' | '%') => {
            chars.next();
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(chunks: &[&[u8]]) -> Vec<Result<Vec<u8>, usize>> {
        let mut lines = Lines::default();
        let mut out = Vec::new();
        let mut each = |line: Line<'_>| {
            out.push(match line {
                Line::Whole(bytes) => Ok(bytes.to_vec()),
                Line::TooLong { bytes } => Err(bytes),
            });
        };
        for chunk in chunks {
            lines.push(chunk, &mut each);
        }
        lines.finish(&mut each);
        out
    }

    #[test]
    fn chunk_boundaries_do_not_matter() {
        let want: Vec<Result<Vec<u8>, usize>> = vec![Ok(b"ab".to_vec()), Ok(b"".to_vec()), Ok(b"c".to_vec())];
        assert_eq!(lines(&[b"ab\r\n\nc"]), want);
        assert_eq!(lines(&[b"a", b"b\r", b"\n", b"\n", b"c"]), want);
    }

    #[test]
    fn a_line_over_the_limit_is_counted_and_the_next_one_is_whole() {
        let half = vec![b'x'; MAX_LINE_BYTES / 2 + 1];
        assert_eq!(lines(&[&half, &half, b"y\nnext\n"]), [Err(half.len() * 2 + 1), Ok(b"next".to_vec())]);
        let whole = vec![b'x'; MAX_LINE_BYTES];
        assert_eq!(lines(&[&whole, b"\n"]), [Ok(whole)]);
    }

    #[test]
    fn colours_are_kept_and_nothing_else() {
        let cases: [(&[u8], Option<&str>); 5] = [
            (b"plain", None),
            (b"\x1b[1;31mred\x1b[0m on", Some("\u{1b}[1;31mred\u{1b}[0m on")),
            (b"\x1b]0;title\x07a\x1b[32mb", Some("a\u{1b}[32mb")),
            (b"\x1b[2Jgone", None),
            (b"\x1b[32mgreen\x1b[K\x07", Some("\u{1b}[32mgreen")),
        ];
        for (given, want) in cases {
            assert_eq!(coloured(given).as_deref(), want);
        }
    }

    #[test]
    fn terminal_sequences_are_removed() {
        let cases: [(&[u8], &str); 6] = [
            (b"plain \ttext", "plain \ttext"),
            (b"\x1b[1;31mred\x1b[0m", "red"),
            (b"\x1b]0;title\x07text", "text"),
            (b"10%\r55%\r100%", "100%"),
            (b"bell\x07\x1b(B", "bell"),
            (b"bad \xff utf", "bad \u{fffd} utf"),
        ];
        for (given, want) in cases {
            assert_eq!(clean(given), want);
        }
    }
}
