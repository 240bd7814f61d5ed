//! Logs as vibe-kanban and automagik-forge keep them: one JSON message in each line.
//!
//! Invariant: what an agent printed comes out as it was printed. Messages that only the other system's page needed are
//! left out; a line that is not a message counts as output.

use forge_types::{OldLine, Voice};
use serde_json::Value;

/// The output in a piece of a log that ends with a whole line.
pub(super) fn lines(text: &str) -> Vec<OldLine> {
    text.lines().filter(|line| !line.trim().is_empty()).filter_map(line).collect()
}

fn line(text: &str) -> Option<OldLine> {
    let said = |voice, text: String| Some(OldLine { voice, at: None, text });
    match serde_json::from_str(text) {
        Ok(Value::Object(message)) if message.len() == 1 => {
            let (kind, body) = message.into_iter().next()?;
            match (kind.as_str(), body) {
                ("Stdout" | "stdout", Value::String(body)) => said(Voice::Stdout, body),
                ("Stderr" | "stderr", Value::String(body)) => said(Voice::Stderr, body),
                ("JsonPatch" | "SessionId" | "MessageId" | "Patch", _) => None,
                _ => said(Voice::Stdout, format!("{text}\n")),
            }
        }
        // "Finished", "Ready"
        Ok(Value::String(_)) => None,
        _ => said(Voice::Stdout, format!("{text}\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_printed_comes_out() {
        let log = r#"{"Stdout":"one\ntw"}
{"JsonPatch":[{"op":"add","path":"/entries/0","value":1}]}
{"SessionId":"s"}

{"Stdout":"o\n"}
{"Stderr":"oh\n"}
{"type":"raw","other":1}
half a {
"Finished"
"#;
        let read: Vec<_> = lines(log).into_iter().map(|line| (line.voice, line.text)).collect();
        let want = [
            (Voice::Stdout, "one\ntw"),
            (Voice::Stdout, "o\n"),
            (Voice::Stderr, "oh\n"),
            (Voice::Stdout, "{\"type\":\"raw\",\"other\":1}\n"),
            (Voice::Stdout, "half a {\n"),
        ];
        assert_eq!(read, want.map(|(voice, text)| (voice, text.to_owned())));
    }
}
