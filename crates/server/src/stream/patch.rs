//! Frames and patches as text.
//!
//! Patches are written once, as text, and then wrapped for a socket or for SSE. Invariant: without numbering the text
//! is exactly the form that shipped clients know; numbering only adds `"seq"` in front.

use std::fmt::Write as _;

use serde::Serialize;

pub(crate) const FINISHED: &str = r#""finished":true"#;

/// One operation with a value. Values of this crate always serialise.
pub(crate) fn put<T: Serialize>(op: &str, path: &str, value: &T) -> String {
    let value = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
    let mut text = String::with_capacity(value.len() + path.len() + 40);
    text.push_str(r#"{"op":""#);
    text.push_str(op);
    text.push_str(r#"","path":"#);
    push_quoted(&mut text, path);
    text.push_str(r#","value":"#);
    text.push_str(&value);
    text.push('}');
    text
}

pub(crate) fn remove(path: &str) -> String {
    let mut text = String::from(r#"{"op":"remove","path":"#);
    push_quoted(&mut text, path);
    text.push('}');
    text
}

/// `{"JsonPatch":[…]}`, numbered when `seq` is given.
pub(crate) fn frame(seq: Option<i64>, patch: &str) -> String {
    let mut text = open(seq, patch.len());
    text.push_str(r#""JsonPatch":["#);
    text.push_str(patch);
    text.push_str("]}");
    text
}

/// `{"finished":true}`, numbered when `seq` is given.
pub(crate) fn finished(seq: Option<i64>) -> String {
    let mut text = open(seq, 0);
    text.push_str(FINISHED);
    text.push('}');
    text
}

/// Whether this is such a frame.
pub(crate) fn is_end(frame: &str) -> bool {
    let rest = frame.strip_suffix('}').and_then(|frame| frame.strip_suffix(FINISHED));
    rest.is_some_and(|head| {
        head == "{" || number_of(frame).is_some_and(|seq| head == format!(r#"{{"seq":{seq},"#))
    })
}

/// The opening brace and the number of a frame that will hold about `room` more bytes.
pub(crate) fn open(seq: Option<i64>, room: usize) -> String {
    let mut text = String::with_capacity(room + 64);
    text.push('{');
    if let Some(seq) = seq {
        // Writing into a String cannot fail.
        let _ = write!(text, r#""seq":{seq},"#);
    }
    text
}

/// The number of a frame that has one.
pub(crate) fn number_of(frame: &str) -> Option<i64> {
    frame.strip_prefix(r#"{"seq":"#)?.split(',').next()?.parse().ok()
}

/// Appends `content` as a JSON string.
pub(crate) fn push_quoted(text: &mut String, content: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    text.push('"');
    let mut start = 0;
    for (at, byte) in content.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..0x20 => "\\u00",
            _ => continue,
        };
        text.push_str(&content[start..at]);
        text.push_str(escape);
        if escape.len() > 2 {
            text.push(HEX[usize::from(byte >> 4)] as char);
            text.push(HEX[usize::from(byte & 15)] as char);
        }
        start = at + 1;
    }
    text.push_str(&content[start..]);
    text.push('"');
}

/// A file path as one step of a JSON pointer.
pub(crate) fn pointer_step(path: &str) -> String {
    path.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoting_agrees_with_serde() {
        let all: String = (0u8..128).map(char::from).chain("é🚀\u{2028}".chars()).collect();
        for content in ["", "plain", "\"\\", "a\nb\r\n\t\u{1b}[0m\u{0}", &all] {
            let mut text = String::new();
            push_quoted(&mut text, content);
            assert_eq!(serde_json::from_str::<String>(&text).unwrap(), content);
        }
    }

    #[test]
    fn a_number_stands_beside_the_patch() {
        assert_eq!(frame(None, "{}"), r#"{"JsonPatch":[{}]}"#);
        assert_eq!(frame(Some(18), &remove("/a")), r#"{"seq":18,"JsonPatch":[{"op":"remove","path":"/a"}]}"#);
        assert_eq!(finished(Some(2)), r#"{"seq":2,"finished":true}"#);
        assert_eq!((number_of(&frame(Some(18), "{}")), number_of(&frame(None, "{}"))), (Some(18), None));
        assert_eq!(finished(None), r#"{"finished":true}"#);
        assert!(is_end(&finished(Some(2))) && is_end(&finished(None)));
        assert!(!is_end(&frame(Some(2), &put("add", "/a", &serde_json::json!({"finished": true})))));
    }

    #[test]
    fn a_null_value_is_written() {
        assert_eq!(put("replace", "/a", &None::<()>), r#"{"op":"replace","path":"/a","value":null}"#);
    }

    #[test]
    fn paths_are_escaped_for_pointers() {
        assert_eq!(pointer_step("src/a~b.rs"), "src~1a~0b.rs");
    }
}
