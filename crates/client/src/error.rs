//! Why a request or a stream failed.
//!
//! Invariant: whoever has to decide looks at the [`Kind`] and the code; message and hint are for people. A server sends
//! the hint at the end of its message too, for clients that show nothing else; here it stands apart, and only the text
//! of an error joins the two.

use std::fmt;

use forge_types::ErrorCode;
use forge_types::wire::Failure;
use reqwest::header::HeaderValue;
use serde_json::Value;

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

#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    pub kind: Kind,
    /// What the server, or something in its place, answered.
    pub status: Option<u16>,
    /// `None` when no server answered, and for a code that this client does not know.
    pub code: Option<ErrorCode>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The part of the request that is wrong.
    pub field: Option<String>,
    /// What the server adds for programs; `null` when there is nothing.
    pub data: Value,
}

impl Error {
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        let (status, code, hint, field) = (None, None, None, None);
        Self { kind, status, code, message: message.into(), hint, field, data: Value::Null }
    }

    /// With what to do about it.
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// What a server answers when it does not do what it was asked.
    pub fn refused(status: u16, failure: Failure) -> Self {
        let Failure { error_data: data, message, error_code: code, hint, field, .. } = failure;
        let message = message.or_else(|| data.get("message")?.as_str().map(str::to_owned));
        let kind = match (status, code) {
            // A server without codes does not distinguish an unknown path from a thing that is missing.
            (404, Some(ErrorCode::NotServed)) => Kind::NotServed,
            (404, _) => Kind::NotFound,
            (401, _) => Kind::Unauthorized,
            (409, _) => Kind::Conflict,
            // Some refusals come with 200, which older clients expect.
            (200 | 400..500, _) => Kind::Refused,
            _ => Kind::Failed,
        };
        let message = message.unwrap_or_else(|| format!("the server answered {status}"));
        let message =
            hint.as_deref().map_or(message.as_str(), |hint| without_hint(&message, hint)).to_owned();
        Self { status: Some(status), code, hint, field, data, ..Self::new(kind, message) }
    }

    /// The refusal of a stream. A Forge refuses in JSON, a proxy with a page.
    pub(crate) fn unopened(status: u16, kind: Option<&HeaderValue>, body: &[u8]) -> Self {
        match kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/json")) {
            true => Self::refused(status, serde_json::from_slice(body).unwrap_or_default()),
            false => Self::foreign(status),
        }
    }

    pub(crate) fn away(kind: Kind, base: &str) -> Self {
        let error = Self::new(kind, format!("no Forge answers at {base}"));
        error.hint("start one with `forge serve`, or name another with FORGE_BACKEND_URL")
    }

    pub(crate) fn cut(cause: impl ToString) -> Self {
        Self::new(Kind::Cut, cause.to_string())
    }

    pub(crate) fn foreign(status: u16) -> Self {
        let error = Self::new(Kind::Foreign, format!("something that is no Forge answered {status}"));
        Self { status: Some(status), ..error.hint("is there a proxy in between?") }
    }

    /// The same error in other words, which say what to do themselves.
    pub fn saying(self, message: String) -> Self {
        Self { message, hint: None, ..self }
    }
}

/// The first half of a sentence that ends with its hint.
fn without_hint<'a>(message: &'a str, hint: &str) -> &'a str {
    message.strip_suffix(hint).and_then(|rest| rest.strip_suffix("; ")).unwrap_or(message)
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.hint {
            Some(hint) => write!(f, "{}; {hint}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(status: u16, envelope: Value) -> Error {
        Error::refused(status, serde_json::from_value(envelope).unwrap())
    }

    #[test]
    fn message_and_hint_of_a_refusal_stand_apart_and_its_text_joins_them() {
        let envelope = json!({
            "message": "a has uncommitted changes; commit them", "hint": "commit them",
            "error_code": "uncommitted_changes", "field": null,
        });
        let error = refused(409, envelope);
        assert_eq!(error.code, Some(ErrorCode::UncommittedChanges));
        assert_eq!(
            (error.message.as_str(), error.hint.as_deref()),
            ("a has uncommitted changes", Some("commit them"))
        );
        assert_eq!(error.to_string(), "a has uncommitted changes; commit them");
    }

    #[test]
    fn a_server_of_another_age_is_understood_as_far_as_it_goes() {
        let old = refused(404, json!({"message": "GET /x is not served here; look elsewhere"}));
        assert_eq!((old.kind, old.code, old.hint), (Kind::NotFound, None, None));
        let newer = json!({"message": "no", "error_code": "a_code_of_tomorrow", "hint": "not its end"});
        let newer = refused(409, newer);
        assert_eq!((newer.kind, newer.code, newer.message.as_str()), (Kind::Conflict, None, "no"));
    }
}
