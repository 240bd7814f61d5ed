//! Why a request or a stream failed.
//!
//! Invariant: whoever has to decide looks at the [`Kind`]; the message is for people.

use reqwest::header::HeaderValue;
use serde_json::Value;

/// How the server words its refusal of a path that it does not know. Nothing else distinguishes it from a thing that is
/// missing, so this is the only place that looks at words.
const NOT_SERVED: &str = "is not served here";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nobody listens there.
    Unreachable,
    /// No answer came in time.
    TimedOut,
    /// The connection ended before the answer or the stream did.
    Cut,
    /// Something between here and the server answered in its place.
    Foreign,
    /// The answer does not have the expected form.
    Unexpected,
    /// The server does not have this path: it is older, or that part is switched off.
    NotServed,
    /// What was asked for does not exist.
    NotFound,
    /// The token is missing or wrong.
    Unauthorized,
    Conflict,
    /// The server does not do it; nothing has changed.
    Refused,
    /// The server failed.
    Failed,
    /// The stream has no pages, and nothing else gets through.
    NoStream,
    /// The server of a stream did not come back.
    Gone,
}

impl Kind {
    /// No server answered.
    pub fn is_away(self) -> bool {
        matches!(self, Kind::Unreachable | Kind::TimedOut | Kind::Cut)
    }

    /// The server answered, and did not do what it was asked.
    pub fn is_refusal(self) -> bool {
        use Kind::*;
        matches!(self, NotServed | NotFound | Unauthorized | Conflict | Refused | Failed)
    }
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    pub kind: Kind,
    /// What the server, or something in its place, answered.
    pub status: Option<u16>,
    pub message: String,
    /// What the server adds for programs; `null` when there is nothing.
    pub data: Value,
    /// What the network reported; not part of the message.
    pub cause: String,
}

impl Error {
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, status: None, message: message.into(), data: Value::Null, cause: String::new() }
    }

    /// What a server answers when it does not do what it was asked.
    pub fn refused(status: u16, envelope: &Value) -> Self {
        let data = envelope["error_data"].clone();
        let message = envelope["message"].as_str().or(data["message"].as_str());
        let kind = match (status, message) {
            (404, Some(message)) if message.contains(NOT_SERVED) => Kind::NotServed,
            (404, _) => Kind::NotFound,
            (401, _) => Kind::Unauthorized,
            (409, _) => Kind::Conflict,
            // Some refusals come with 200, which older clients expect.
            (200 | 400..500, _) => Kind::Refused,
            _ => Kind::Failed,
        };
        let message = message.map_or_else(|| format!("the server answered {status}"), str::to_owned);
        Self { status: Some(status), data, ..Self::new(kind, message) }
    }

    /// The refusal of a stream. A Forge refuses in JSON, a proxy with a page.
    pub(crate) fn unopened(status: u16, kind: Option<&HeaderValue>, body: &[u8]) -> Self {
        match kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/json")) {
            true => Self::refused(status, &serde_json::from_slice(body).unwrap_or_default()),
            false => Self::foreign(status),
        }
    }

    pub(crate) fn away(kind: Kind, base: &str, cause: impl ToString) -> Self {
        let message = format!(
            "no Forge answers at {base}; start one with `forge serve`, or name another with FORGE_BACKEND_URL"
        );
        Self { cause: cause.to_string(), ..Self::new(kind, message) }
    }

    pub(crate) fn cut(cause: impl ToString) -> Self {
        let cause = cause.to_string();
        Self { cause: cause.clone(), ..Self::new(Kind::Cut, cause) }
    }

    pub(crate) fn foreign(status: u16) -> Self {
        let message = format!("something that is no Forge answered {status}; is there a proxy in between?");
        Self { status: Some(status), ..Self::new(Kind::Foreign, message) }
    }

    /// The same error in other words.
    pub fn saying(self, message: String) -> Self {
        Self { message, ..self }
    }
}
