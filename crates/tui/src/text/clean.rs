//! Makes untrusted text harmless for a terminal.
//!
//! Invariants: cleaned text cannot move the cursor, change colours or titles, or change the writing direction; cleaning
//! a prefix gives a prefix of the cleaned text, so growing text can be cleaned as it grows.

/// Removes escape sequences and control characters; a tab becomes four spaces, and a line overwritten in place (`\r`)
/// becomes several lines.
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_sequence(&mut chars),
            '\u{9b}' => skip_parameters(&mut chars),
            '\n' => out.push('\n'),
            '\t' => out.push_str("    "),
            '\r' if chars.peek() == Some(&'\n') || chars.peek().is_none() => {}
            '\r' => out.push('\n'),
            c if c.is_control() || turns_direction(c) => {}
            c => out.push(c),
        }
    }
    out
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// Skips what follows an escape: a control sequence, a string up to its terminator or the end of the line, or one
/// character.
fn skip_sequence(chars: &mut Chars<'_>) {
    match chars.next() {
        Some('[') => skip_parameters(chars),
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while let Some(c) = chars.next_if(|c| *c != '\n') {
                match c {
                    '\u{7}' => return,
                    '\u{1b}' => {
                        chars.next_if_eq(&'\\');
                        return;
                    }
                    _ => {}
                }
            }
        }
        Some('(' | ')' | '*' | '+' | '#' | ' ' | '%') => {
            chars.next_if(|c| *c != '\n');
        }
        _ => {}
    }
}

fn skip_parameters(chars: &mut Chars<'_>) {
    while chars.next_if(|c| ('\u{20}'..='\u{3f}').contains(c)).is_some() {}
    chars.next_if(|c| ('\u{40}'..='\u{7e}').contains(c));
}

/// Bidirectional controls, which make text read differently from what it is.
pub fn turns_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{061c}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cleaned_text_cannot_move_the_cursor() {
        let cases = [
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("a\u{1b}[2J\u{1b}[1;1Hb", "ab"),
            ("\u{1b}]0;title\u{7}x\u{1b}]8;;http://e\u{1b}\\link\u{1b}]8;;\u{1b}\\", "xlink"),
            ("\u{9b}2Ax", "x"),
            ("a\u{8}\u{8}b\u{0}\u{7f}", "ab"),
            ("one\r\ntwo\rthree\r", "one\ntwo\nthree"),
            ("a\tb", "a    b"),
            ("\u{1b}(Bok", "ok"),
            ("safe\u{202e}txt.exe", "safetxt.exe"),
            ("\u{1b}]unterminated\nnext", "\nnext"),
        ];
        for (text, want) in cases {
            assert_eq!(clean(text), want, "{text:?}");
        }
    }

    #[test]
    fn a_prefix_cleans_to_a_prefix() {
        let whole = "a\u{1b}[31;1mb\u{1b}]0;t\u{7}c\r\nd\re\u{1b}(Bf\u{9b}5Cg";
        let cleaned = clean(whole);
        for (at, _) in whole.char_indices() {
            assert!(cleaned.starts_with(&clean(&whole[..at])), "{:?}", &whole[..at]);
        }
    }
}
