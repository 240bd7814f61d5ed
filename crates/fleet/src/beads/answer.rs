//! Parses what the beads programs print.
//!
//! Owns the rules for all versions: text before the JSON is dropped, there may be several documents, a document with an
//! error wins, errors may also be on standard error as JSON or plain text, and no output is an error.

use serde_json::{Map, Value};

use super::bead::Bead;
use super::call::Answer;
use super::error::BeadsError;

/// An error that a program reports.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Complaint {
    pub command: String,
    /// br's error code.
    pub code: Option<String>,
    pub message: String,
    /// br: the invalid field.
    pub field: Option<String>,
    /// br: the reason, without the message's preamble.
    pub reason: Option<String>,
}

/// The documents without envelope, or the error.
pub(super) fn read(answer: &Answer) -> Result<Vec<Value>, Complaint> {
    let documents: Vec<Value> = documents(&answer.stdout).into_iter().map(unwrap).collect();
    let complaint = |complaint: Complaint| Complaint { command: answer.command.clone(), ..complaint };
    if let Some(found) = documents.iter().find_map(error_of) {
        return Err(complaint(found));
    }
    if answer.code == Some(0) && !documents.is_empty() {
        return Ok(documents);
    }
    if let Some(found) = self::documents(answer.stderr.as_bytes()).iter().find_map(error_of) {
        return Err(complaint(found));
    }
    let message = match (answer.stderr.as_str(), answer.code) {
        ("", Some(0)) => "it printed no JSON".to_owned(),
        ("", Some(code)) => format!("it exited with {code} and printed nothing"),
        ("", None) => "a signal ended it".to_owned(),
        (stderr, _) => first_lines(stderr),
    };
    Err(complaint(Complaint { message, ..Complaint::default() }))
}

/// The records in the documents: a list, a page, what was closed, or one record.
pub(super) fn rows(documents: Vec<Value>) -> Vec<Value> {
    let rows = documents.into_iter().flat_map(|document| match document {
        Value::Array(rows) => rows,
        Value::Object(mut object) => {
            let list = ["issues", "closed", "reopened"].iter().find_map(|name| match object.get_mut(*name) {
                Some(Value::Array(rows)) => Some(std::mem::take(rows)),
                _ => None,
            });
            list.unwrap_or_else(|| vec![Value::Object(object)])
        }
        _ => Vec::new(),
    });
    rows.collect()
}

/// The records as beads.
pub(super) fn beads(command: &str, documents: Vec<Value>) -> Result<Vec<Bead>, BeadsError> {
    let bead = |row: Value| match row {
        Value::Object(row) => Bead::try_from(plain(row)),
        other => Err(format!("{other} is not an object")),
    };
    let beads = rows(documents).into_iter().map(bead).collect::<Result<_, _>>();
    beads.map_err(|why| BeadsError::Program {
        command: command.to_owned(),
        why: format!("its output has a record that is not a bead: {why}"),
    })
}

/// A record as the file would have it. `show` returns whole beads instead of edges, and counts that are not fields.
fn plain(mut row: Map<String, Value>) -> Map<String, Value> {
    let id = row.get("id").cloned().unwrap_or_default();
    if let Some(Value::Array(edges)) = row.get_mut("dependencies") {
        for edge in edges {
            let (Some(on), Some(kind)) = (edge.get("id"), edge.get("dependency_type")) else { continue };
            *edge = serde_json::json!({ "issue_id": id, "depends_on_id": on, "type": kind });
        }
    }
    for derived in ["dependents", "rollup", "schema_version", "source_repo_path"] {
        row.remove(derived);
    }
    row
}

fn documents(output: &[u8]) -> Vec<Value> {
    let opens = |byte: u8| byte == b'{' || byte == b'[';
    let mut rest = output;
    while let Some(start) = rest.iter().position(|byte| opens(*byte)) {
        let found: Vec<Value> =
            serde_json::Deserializer::from_slice(&rest[start..]).into_iter().map_while(Result::ok).collect();
        if !found.is_empty() {
            return found;
        }
        // A bracket in a line of text, such as a log line: look further on the next line.
        let Some(end) = rest[start..].iter().position(|byte| *byte == b'\n') else { break };
        rest = &rest[start + end..];
    }
    Vec::new()
}

/// Takes the data out of bd's envelope.
fn unwrap(document: Value) -> Value {
    match document {
        Value::Object(mut object) if object.contains_key("schema_version") && object.contains_key("data") => {
            object.remove("data").unwrap_or_default()
        }
        other => other,
    }
}

fn error_of(document: &Value) -> Option<Complaint> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match document.get("error")? {
        Value::String(message) => Some(Complaint { message: message.clone(), ..Complaint::default() }),
        error @ Value::Object(_) => Some(Complaint {
            command: String::new(),
            code: text(&error["code"]),
            message: text(&error["message"]).unwrap_or_else(|| error.to_string()),
            field: text(&error["context"]["field"]),
            reason: text(&error["context"]["reason"]),
        }),
        _ => None,
    }
}

/// Cuts the list of flags from a usage error.
fn first_lines(stderr: &str) -> String {
    let message = stderr.split("\nUsage:").next().unwrap_or(stderr);
    message.trim().chars().take(2_000).collect()
}

impl Complaint {
    /// Only a locked database is tried again. br's own `retryable` means "correct it and try again".
    pub(super) fn is_transient(&self) -> bool {
        const WORDS: [&str; 7] = [
            "database is locked",
            "database locked",
            "database table is locked",
            "lock timeout",
            "acquire lock",
            "acquire exclusive lock",
            "locked by another",
        ];
        let message = self.message.to_lowercase();
        let code = self.code.as_deref().unwrap_or_default();
        code.contains("LOCK") && !code.contains("BLOCK") || WORDS.iter().any(|word| message.contains(word))
    }

    pub(super) fn is_missing_bead(&self) -> bool {
        let message = self.message.to_lowercase();
        self.code.as_deref() == Some("ISSUE_NOT_FOUND")
            || message.contains("no issue found")
            || message.contains("issue not found")
    }

    /// The message as an error about the bead `id`.
    pub(super) fn into_error(self, id: &str) -> BeadsError {
        if self.is_missing_bead() {
            return BeadsError::NoSuchBead { id: id.to_owned() };
        }
        if self.is_transient() {
            return BeadsError::Busy(self.message);
        }
        BeadsError::Program { command: self.command, why: self.message }
    }
}

#[cfg(test)]
mod tests;
