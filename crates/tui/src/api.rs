//! Speaking to the server: its envelope turned into a result, and its streams.
//!
//! Invariant: every request has a bound, and a stream that is quiet for longer than the server ever is has ended.

mod sse;

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;

pub use sse::{Message, Sse};

use crate::message::{Call, Method};

/// A server that is there answers this fast, even when it is busy; a merge may take longer.
const READ_LIMIT: Duration = Duration::from_secs(15);
const WRITE_LIMIT: Duration = Duration::from_secs(120);

/// Why a request came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Nobody answers.
    #[error("no Forge answers: {0}")]
    Away(String),
    /// The server is older than this dashboard, or has that part switched off.
    #[error("this server does not serve it")]
    NotServed,
    /// What was asked for is not there.
    #[error("{0}")]
    Missing(String),
    #[error("{0}")]
    Refused(String),
}

#[derive(Clone)]
pub struct Api {
    base: String,
    token: Option<String>,
    http: reqwest::Client,
}

impl Api {
    pub fn new(base: &str, token: Option<String>) -> Self {
        Self { base: base.trim_end_matches('/').to_owned(), token, http: reqwest::Client::new() }
    }

    pub fn base(&self) -> &str {
        &self.base
    }

    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Fault> {
        self.send(self.http.get(self.url(path)).timeout(READ_LIMIT)).await
    }

    pub async fn call(&self, call: &Call) -> Result<Value, Fault> {
        let url = self.url(&call.path);
        let request = match call.method {
            Method::Post => self.http.post(url).json(&call.body),
            Method::Put => self.http.put(url).json(&call.body),
            Method::Delete => self.http.delete(url),
        };
        self.send(request.timeout(WRITE_LIMIT)).await
    }

    /// Opens a stream of server-sent events.
    pub async fn listen(&self, path: &str) -> Result<Sse, Fault> {
        let request = self.signed(self.http.get(self.url(path)));
        let sent = tokio::time::timeout(READ_LIMIT, request.send());
        let answer = sent.await.map_err(|_| away("no answer in time"))?.map_err(|error| away(&error))?;
        match answer.status().as_u16() {
            200 => Ok(Sse::new(answer)),
            404 => Err(Fault::NotServed),
            status => Err(Fault::Refused(format!("the server answered {status}"))),
        }
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    fn signed(&self, request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    async fn send<T: DeserializeOwned>(&self, request: reqwest::RequestBuilder) -> Result<T, Fault> {
        let answer = self.signed(request).send().await.map_err(|error| away(&error))?;
        let status = answer.status().as_u16();
        let body = answer.bytes().await.map_err(|error| away(&error))?;
        let mut envelope: Value = serde_json::from_slice(&body).unwrap_or_default();
        if envelope["success"] != true {
            let said = envelope["message"].as_str().or(envelope["error_data"]["message"].as_str());
            return Err(match said {
                // How the server answers a path that it does not know.
                Some(message) if status == 404 && message.contains("is not served here") => Fault::NotServed,
                Some(message) if status == 404 => Fault::Missing(message.to_owned()),
                Some(message) => Fault::Refused(message.to_owned()),
                None => Fault::Refused(format!("the server answered {status}")),
            });
        }
        serde_json::from_value(envelope["data"].take())
            .map_err(|error| Fault::Refused(format!("unexpected answer: {error}")))
    }
}

fn away(error: &(impl ToString + ?Sized)) -> Fault {
    Fault::Away(error.to_string())
}
