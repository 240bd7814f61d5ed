//! Reading lines of bounded length.
//!
//! Invariant: no line takes more memory than the reader allows; a longer one is skipped.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

pub enum Line {
    Whole(String),
    TooLong,
}

/// The next line without its end; `None` when there is none.
pub async fn read_line(from: &mut (impl AsyncBufRead + Unpin), max_bytes: usize) -> io::Result<Option<Line>> {
    let mut kept = Vec::new();
    let mut length = 0;
    loop {
        let chunk = from.fill_buf().await?;
        if chunk.is_empty() && length == 0 {
            return Ok(None);
        }
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let piece = &chunk[..end.unwrap_or(chunk.len())];
        // One more byte for the line break, so that an empty line is not mistaken for the end of the input.
        let taken = piece.len() + usize::from(end.is_some());
        if length + piece.len() <= max_bytes {
            kept.extend_from_slice(piece);
        }
        let is_last = end.is_some() || chunk.is_empty();
        length += piece.len();
        from.consume(taken);
        if is_last {
            return Ok(Some(match length > max_bytes {
                true => Line::TooLong,
                false => Line::Whole(String::from_utf8_lossy(&kept).into_owned()),
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::BufReader;

    use super::*;

    const MAX_BYTES: usize = 20;

    async fn lines(text: &[u8]) -> Vec<Option<String>> {
        let mut reader = BufReader::with_capacity(5, text);
        let mut lines = Vec::new();
        while let Some(line) = read_line(&mut reader, MAX_BYTES).await.unwrap() {
            lines.push(match line {
                Line::Whole(text) => Some(text),
                Line::TooLong => None,
            });
        }
        lines
    }

    #[tokio::test]
    async fn lines_are_read_whole_and_one_that_is_too_long_is_skipped() {
        assert_eq!(lines(b"").await, []);
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            lines(b"one\n\ntwo two\nthree").await,
            [some("one"), some(""), some("two two"), some("three")]
        );
        let long = [&vec![b'x'; MAX_BYTES + 1][..], b"\nnext\n"].concat();
        assert_eq!(lines(&long).await, [None, some("next")]);
        let longest = [&vec![b'x'; MAX_BYTES][..], b"\n"].concat();
        assert_eq!(lines(&longest).await.len(), 1);
        assert!(lines(&longest).await[0].is_some());
    }
}
