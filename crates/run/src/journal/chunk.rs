//! Where a stream of bytes may be cut into payloads.
//!
//! Invariant: no cut falls inside a UTF-8 character; bytes that are not UTF-8 are held back only until that is
//! clear.

use super::MAX_PAYLOAD_BYTES;

const LINE_SEARCH_BYTES: usize = 4 * 1024;

/// How many bytes at the end (0 to 3) begin a character that is not complete yet.
pub(crate) fn unfinished(bytes: &[u8]) -> usize {
    for (back, byte) in bytes.iter().rev().take(3).enumerate() {
        let have = back + 1;
        let need = match byte {
            0x80..=0xBF => continue,
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            _ => 1,
        };
        return if need > have { have } else { 0 };
    }
    0
}

/// The length of the first payload of `bytes`: everything if it fits, or else up to a line end near the limit, or
/// else up to the end of a character.
pub(crate) fn cut(bytes: &[u8]) -> usize {
    if bytes.len() <= MAX_PAYLOAD_BYTES {
        return bytes.len();
    }
    let full = &bytes[..MAX_PAYLOAD_BYTES];
    let near = MAX_PAYLOAD_BYTES - LINE_SEARCH_BYTES;
    match full[near..].iter().rposition(|&byte| byte == b'\n') {
        Some(at) => near + at + 1,
        None => MAX_PAYLOAD_BYTES - unfinished(full),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_character_that_has_only_begun_is_unfinished() {
        let smile = "🙂".as_bytes();
        assert_eq!([1, 2, 3, 4].map(|n| unfinished(&smile[..n])), [1, 2, 3, 0]);
        assert_eq!(unfinished("é".as_bytes()), 0);
        assert_eq!(unfinished(&[b'a', 0xC3]), 1);
    }

    #[test]
    fn bytes_that_are_not_text_are_not_held_back() {
        assert_eq!(unfinished(&[0xFF]), 0);
        assert_eq!(unfinished(&[0x80, 0x80, 0x80, 0x80]), 0);
        assert_eq!(unfinished(b""), 0);
    }

    #[test]
    fn a_long_read_is_cut_after_a_line() {
        let mut bytes = vec![b'x'; MAX_PAYLOAD_BYTES + 10];
        bytes[MAX_PAYLOAD_BYTES - 100] = b'\n';
        assert_eq!(cut(&bytes), MAX_PAYLOAD_BYTES - 99);
    }

    proptest! {
        #[test]
        fn every_cut_of_text_leaves_text_on_both_sides(text in "\\PC{0,20}", pad in 0usize..8) {
            let mut long = "ü".repeat(MAX_PAYLOAD_BYTES / 2 - pad);
            long.push_str(&text);
            long.push_str(&"€".repeat(20));
            let at = cut(long.as_bytes());
            prop_assert!(at <= MAX_PAYLOAD_BYTES);
            prop_assert!(long.is_char_boundary(at), "cut at {at}");
        }

        #[test]
        fn what_is_not_held_back_is_whole_text(text in "\\PC{1,20}", at in 0usize..80) {
            let bytes = &text.as_bytes()[..at.min(text.len())];
            let kept = &bytes[..bytes.len() - unfinished(bytes)];
            prop_assert!(std::str::from_utf8(kept).is_ok());
        }
    }
}
