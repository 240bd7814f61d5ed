//! The media type of a file, by its content.
//!
//! Invariant: pictures are recognised by their first bytes, never by a name; everything else is plain text or nothing
//! that a browser shows.

const TEXT: &str = "text/plain; charset=utf-8";
const OCTETS: &str = "application/octet-stream";
/// Sizes of the second header of a bitmap, which distinguish it from a text that begins with `BM`.
const BITMAP_HEADERS: [u32; 7] = [12, 40, 52, 56, 64, 108, 124];
/// How many brands of a picture are checked.
const MAX_BRANDS: usize = 16;

pub(crate) fn of(bytes: &[u8]) -> &'static str {
    if let Some(picture) = picture(bytes) {
        return picture;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if is_svg(text) => "image/svg+xml",
        Ok(_) => TEXT,
        Err(_) => OCTETS,
    }
}

fn picture(bytes: &[u8]) -> Option<&'static str> {
    Some(match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => "image/png",
        [0xff, 0xd8, 0xff, ..] => "image/jpeg",
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => "image/gif",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
        [0, 0, 1, 0, 1..=255, 0, ..] => "image/x-icon",
        [b'B', b'M', rest @ ..] if is_bitmap(rest) => "image/bmp",
        [_, _, _, _, b'f', b't', b'y', b'p', brands @ ..] if is_avif(brands) => "image/avif",
        _ => return None,
    })
}

fn is_bitmap(after_mark: &[u8]) -> bool {
    let size = after_mark.get(12..16).and_then(|size| size.try_into().ok()).map(u32::from_le_bytes);
    size.is_some_and(|size| BITMAP_HEADERS.contains(&size))
}

/// The main brand comes first, a version after it, then those that it is compatible with.
fn is_avif(brands: &[u8]) -> bool {
    brands.chunks_exact(4).take(MAX_BRANDS).any(|brand| brand == b"avif" || brand == b"avis")
}

/// Whether the first element is `svg`, after what may stand before it.
fn is_svg(text: &str) -> bool {
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    let ends = [("<?", "?>"), ("<!--", "-->"), ("<!", ">")];
    while let Some((_, end)) = ends.iter().find(|(begin, _)| rest.starts_with(begin)) {
        let Some((_, after)) = rest.split_once(end) else { return false };
        rest = after.trim_start();
    }
    let after = rest.strip_prefix("<svg");
    after.is_some_and(|after| {
        after.starts_with(|next: char| next.is_whitespace() || matches!(next, '>' | '/'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_known_by_their_content_and_texts_are_texts() {
        let bitmap = [b"BM".as_slice(), &[0; 12], &40u32.to_le_bytes()].concat();
        for (bytes, want) in [
            (b"\x89PNG\r\n\x1a\n...".as_slice(), "image/png"),
            (b"\xff\xd8\xff\xe0", "image/jpeg"),
            (b"GIF89a", "image/gif"),
            (b"RIFF\x01\x02\x03\x04WEBPVP8 ", "image/webp"),
            (b"\0\0\0\x20ftypavif\0\0\0\0", "image/avif"),
            (b"\0\0\0\x20ftypmif1\0\0\0\0avif", "image/avif"),
            (b"\0\0\0\x20ftypisom\0\0\0\0mp41", TEXT),
            (b"\0\0\x01\0\x01\0\x10\x10", "image/x-icon"),
            (&bitmap, "image/bmp"),
            (b"BM is a text that begins like a picture", TEXT),
            (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml"),
            (b"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- by hand -->\n<!DOCTYPE svg>\n<svg>", "image/svg+xml"),
            (b"<!-- never ends", TEXT),
            (b"<svgfoo>", TEXT),
            (b"<html><svg/></html>", TEXT),
            (b"<script>alert(1)</script>", TEXT),
            (b"", TEXT),
            ("gr\u{fc}n".as_bytes(), TEXT),
            (b"gr\xfcn", OCTETS),
        ] {
            assert_eq!(of(bytes), want, "{}", String::from_utf8_lossy(bytes));
        }
    }
}
