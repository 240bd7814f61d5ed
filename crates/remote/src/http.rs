//! The one HTTP client.
//!
//! Invariant: redirects never take a token to another host, responses above [`MAX_ANSWER_BYTES`] are refused, and an
//! error names the host and the status but never a secret.

use std::error::Error as _;
use std::time::Duration;

use reqwest::{Method, StatusCode, header};
use serde_json::Value;

const TIME_LIMIT: Duration = Duration::from_secs(30);
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
const MAX_REDIRECTS: usize = 5;
pub(crate) const MAX_ANSWER_BYTES: usize = 16 << 20;
/// How much of a server's message goes into an error.
const MAX_SAID_CHARS: usize = 600;

#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// No response: unknown host, refused connection, time-out.
    #[error("cannot reach {host}: {reason}")]
    Unreachable { host: String, reason: String },
    /// A response that is not a success; `message` is the server's.
    #[error("{host} answered {status}: {message}")]
    Refused { host: String, status: u16, message: String },
    /// An unusable response.
    #[error("{host} sent an answer that cannot be used: {reason}")]
    Unusable { host: String, reason: String },
}

impl RemoteError {
    /// Whether the failure may be temporary. A refusal of this very request is not.
    pub fn may_pass(&self) -> bool {
        match self {
            RemoteError::Unreachable { .. } => true,
            RemoteError::Refused { status, .. } => *status >= 500 || matches!(status, 408 | 425 | 429),
            RemoteError::Unusable { .. } => false,
        }
    }
}

/// A response, success or not.
#[derive(Debug)]
pub(crate) struct Reply {
    pub status: u16,
    pub etag: Option<String>,
    pub body: Value,
}

#[derive(Clone)]
pub struct Http(reqwest::Client);

impl Http {
    pub fn new() -> Result<Self, RemoteError> {
        // A second call finds the provider in place, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .timeout(TIME_LIMIT)
            .connect_timeout(CONNECT_LIMIT)
            .redirect(reqwest::redirect::Policy::custom(stay_with_host))
            .user_agent(concat!("forge/", env!("CARGO_PKG_VERSION")))
            .build();
        client.map(Self).map_err(|error| RemoteError::Unusable {
            host: "this machine".to_owned(),
            reason: format!("no HTTP client can be made: {}", error.without_url()),
        })
    }

    /// One request with a JSON response; an empty response is `null`.
    pub(crate) async fn call(
        &self,
        method: Method,
        url: &str,
        headers: &[(&'static str, &str)],
        body: Option<&Value>,
    ) -> Result<Reply, RemoteError> {
        let host = host_of(url);
        let unreachable =
            |error: reqwest::Error| RemoteError::Unreachable { host: host.clone(), reason: root_of(&error) };
        let mut request = self.0.request(method, url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let mut response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        let etag =
            response.headers().get(header::ETAG).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
            if bytes.len() + chunk.len() > MAX_ANSWER_BYTES {
                return Err(RemoteError::Unusable { host, reason: "it is larger than 16 MiB".to_owned() });
            }
            bytes.extend_from_slice(&chunk);
        }
        let body = match serde_json::from_slice(&bytes) {
            Ok(body) => body,
            Err(_) if bytes.is_empty() => Value::Null,
            Err(_) if status.is_success() => {
                return Err(RemoteError::Unusable { host, reason: "it is not JSON".to_owned() });
            }
            Err(_) => Value::Null,
        };
        Ok(Reply { status: status.as_u16(), etag, body })
    }
}

/// Follows a redirect only on the same host: our own headers would be sent to any other, too.
fn stay_with_host(attempt: reqwest::redirect::Attempt<'_>) -> reqwest::redirect::Action {
    let place = |url: &reqwest::Url| {
        (url.scheme().to_owned(), url.host_str().map(str::to_owned), url.port_or_known_default())
    };
    let same = attempt.previous().last().is_some_and(|before| place(before) == place(attempt.url()));
    match same && attempt.previous().len() <= MAX_REDIRECTS {
        true => attempt.follow(),
        false => attempt.stop(),
    }
}

/// The innermost cause, which says what happened; the outer ones only say that something did, and may name the URL.
fn root_of(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "no answer in time".to_owned();
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    match error.source() {
        Some(_) => cause.to_string(),
        None => "the request failed".to_owned(),
    }
}

/// The host and port of a URL, which may be named in messages; never its credentials or query.
pub(crate) fn host_of(url: &str) -> String {
    let parsed = reqwest::Url::parse(url).ok();
    let named = parsed.and_then(|url| {
        let host = url.host_str()?.to_owned();
        Some(url.port().map_or(host.clone(), |port| format!("{host}:{port}")))
    });
    named.unwrap_or_else(|| "the given address".to_owned())
}

impl Reply {
    /// The body of a success; otherwise the error with the server's message.
    pub(crate) fn success(self, url: &str) -> Result<Value, RemoteError> {
        if StatusCode::from_u16(self.status).is_ok_and(|status| status.is_success()) {
            return Ok(self.body);
        }
        let message = said(&self.body).unwrap_or_else(|| "no reason given".to_owned());
        Err(RemoteError::Refused { host: host_of(url), status: self.status, message })
    }
}

/// The server's own message; hosts put it under several keys, some as lists.
fn said(body: &Value) -> Option<String> {
    let words = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(list) => {
            let texts = list.iter().filter_map(|one| one.as_str().or_else(|| one["message"].as_str()));
            Some(texts.collect::<Vec<_>>().join("; ")).filter(|text| !text.is_empty())
        }
        Value::Object(_) => Some(value.to_string()),
        _ => None,
    };
    let main = ["message", "error_description", "error"].iter().find_map(|key| words(&body[*key]));
    let more = words(&body["errors"]);
    let text = match (main, more) {
        (Some(main), Some(more)) => format!("{main}: {more}"),
        (main, more) => main.or(more)?,
    };
    Some(text.chars().take(MAX_SAID_CHARS).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_named_without_credentials() {
        assert_eq!(host_of("https://user:secret@git.example:8443/a?token=x"), "git.example:8443");
        assert_eq!(host_of("nonsense"), "the given address");
    }

    #[test]
    fn the_words_of_every_host_are_found() {
        let github = serde_json::json!({"message": "Validation Failed", "errors": [{"message": "exists"}, {"code": "x"}]});
        assert_eq!(said(&github).as_deref(), Some("Validation Failed: exists"));
        let gitlab = serde_json::json!({"message": ["Another open merge request already exists"]});
        assert_eq!(said(&gitlab).as_deref(), Some("Another open merge request already exists"));
        assert_eq!(said(&Value::Null), None);
    }
}
