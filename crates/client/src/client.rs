//! Requests to one server.
//!
//! Owns the address, the token and the connections. Invariant: the token goes to that address only; a request that must
//! have one effect carries a key and is sent again when its answer was lost, to a server that honours the key; every
//! other request is sent once.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use forge_types::wire::{Envelope, Ready};
use reqwest::{ClientBuilder, Method, RequestBuilder, Response};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{Error, Kind};
use crate::misread;
use crate::pipe::Way;
use crate::socket::Socket;
use crate::sse::Events;

/// A server that is there answers this fast, even when it is busy.
const PROBE_LIMIT: Duration = Duration::from_secs(3);
/// Pauses before a request whose answer was lost is sent again.
const LOST_PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(1000)];
/// How long a server that is being restarted may be away.
const BACK_LIMIT: Duration = Duration::from_secs(15);

#[derive(Clone)]
pub struct Client {
    base: String,
    token: Option<String>,
    http: reqwest::Client,
    /// How long reading and changing something may take.
    limits: (Option<Duration>, Option<Duration>),
    remark: fn(&str),
    /// How streams get through; clones share what was found out.
    way: Arc<Mutex<Way>>,
}

/// What carries requests, before it is built. The library comes without cryptography of its own, and wants one first.
pub fn transport() -> ClientBuilder {
    // A second call finds the provider in place, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
}

impl Client {
    pub fn new(base: &str, token: Option<String>) -> Self {
        Self::over(transport(), base, token)
    }

    pub fn over(transport: ClientBuilder, base: &str, token: Option<String>) -> Self {
        let (http, way) = (transport.build().expect("a TLS backend"), Arc::default());
        Self { base: trimmed(base), token, http, limits: (None, None), remark: |_| {}, way }
    }

    /// With bounds for `get`, and for the methods that change something.
    pub fn within(self, read: Duration, write: Duration) -> Self {
        Self { limits: (Some(read), Some(write)), ..self }
    }

    /// With somebody who takes what a person should know although nothing failed.
    pub fn with_remarks(self, remark: fn(&str)) -> Self {
        Self { remark, ..self }
    }

    /// A server at another address, over the same connections.
    pub fn at(&self, base: &str, token: Option<String>) -> Self {
        Self { base: trimmed(base), token, way: Arc::default(), ..self.clone() }
    }

    pub fn base(&self) -> &str {
        &self.base
    }

    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Error> {
        self.call(Method::GET, path, None).await
    }

    pub async fn post<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, Error> {
        self.call(Method::POST, path, Some(body)).await
    }

    pub async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<T, Error> {
        let limit = if method == Method::GET { self.limits.0 } else { self.limits.1 };
        let is_once = method == Method::POST && has_one_effect(path);
        let mut request = self.request(method, path);
        if let Some(limit) = limit {
            request = request.timeout(limit);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        match is_once {
            true => self.send_once(request).await,
            false => self.send(request).await,
        }
    }

    /// A request with address and token, and without a bound.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.base));
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    /// Sends a request and returns its answer as it comes, whatever its status.
    pub async fn fetch(&self, request: RequestBuilder) -> Result<Response, Error> {
        request.send().await.map_err(|error| self.lost(&error))
    }

    /// Sends a request and takes the envelope off.
    pub async fn send<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, Error> {
        let (status, body) = self.exchange(request).await?;
        self.open(status, &body)
    }

    /// What the server reports about itself; `None` when there is none.
    pub async fn ready(&self) -> Option<Ready> {
        let probe = async { self.http.get(format!("{}/health", self.base)).send().await?.json().await };
        tokio::time::timeout(PROBE_LIMIT, probe).await.ok()?.ok()
    }

    /// Whether it is a Forge that answers.
    pub async fn is_forge(&self) -> bool {
        self.ready().await.is_some_and(|ready| ready.service == "forge-app")
    }

    /// Opens a WebSocket.
    pub async fn socket(&self, path: &str) -> Result<Socket, Error> {
        Socket::open(&self.base, path, self.token.as_deref()).await
    }

    /// Opens a stream of server-sent events.
    pub async fn events(&self, path: &str) -> Result<Events, Error> {
        Events::open(self, path).await
    }

    pub(crate) fn remark(&self, text: &str) {
        (self.remark)(text);
    }

    /// The best way for a stream that is not known to be blocked.
    pub(crate) fn way(&self) -> Way {
        *self.way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives up a way for as long as this client and its clones live; returns the next one.
    pub(crate) fn give_up(&self, way: Way) -> Way {
        let mut known = self.way.lock().unwrap_or_else(PoisonError::into_inner);
        if *known == way {
            *known = if way == Way::Socket { Way::Events } else { Way::Pages };
        }
        *known
    }

    /// Sends a request under a key. When its answer is lost it is sent again, and the server carries it out once.
    async fn send_once<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, Error> {
        let request = request.header("idempotency-key", uuid::Uuid::new_v4().to_string());
        for pause in LOST_PAUSES {
            let Some(this_time) = request.try_clone() else { break };
            let lost = match self.exchange(this_time).await {
                Ok((status, body)) => return self.open(status, &body),
                Err(error) if error.kind == Kind::Cut => error,
                Err(error) => return Err(error),
            };
            tokio::time::sleep(pause).await;
            // An older server would carry it out twice.
            if !self.is_our_version().await {
                return Err(lost);
            }
        }
        self.send(request).await
    }

    /// Whether a server of this version answers, within the time that one needs to come back.
    async fn is_our_version(&self) -> bool {
        let back = async {
            loop {
                if let Some(ready) = self.ready().await {
                    return ready.version == env!("CARGO_PKG_VERSION");
                }
                tokio::time::sleep(LOST_PAUSES[0]).await;
            }
        };
        tokio::time::timeout(BACK_LIMIT, back).await.unwrap_or(false)
    }

    /// A request and its whole answer.
    async fn exchange(&self, request: RequestBuilder) -> Result<(u16, Vec<u8>), Error> {
        let answer = self.fetch(request).await?;
        let status = answer.status().as_u16();
        Ok((status, answer.bytes().await.map_err(|error| self.lost(&error))?.to_vec()))
    }

    /// The data of an envelope that says `success`; whatever else is JSON is a refusal.
    fn open<T: DeserializeOwned>(&self, status: u16, body: &[u8]) -> Result<T, Error> {
        match serde_json::from_slice::<Envelope>(body) {
            Ok(Envelope { success: true, data, message, .. }) => {
                // It did what it was asked, and has a warning about it.
                message.iter().for_each(|warning| self.remark(warning));
                misread::read(data)
            }
            Err(error) if !error.is_data() => {
                Err(Error::foreign(status).saying(format!("status {status}, not JSON: {error}")))
            }
            _ => Err(Error::refused(status, serde_json::from_slice(body).unwrap_or_default())),
        }
    }

    pub(crate) fn lost(&self, error: &reqwest::Error) -> Error {
        let kind = match (error.is_connect(), error.is_timeout()) {
            (true, _) => Kind::Unreachable,
            (_, true) => Kind::TimedOut,
            _ => Kind::Cut,
        };
        Error::away(kind, &self.base)
    }
}

fn trimmed(base: &str) -> String {
    base.trim_end_matches('/').to_owned()
}

/// Whether the server carries such a request out once, however often it comes under one key.
fn has_one_effect(path: &str) -> bool {
    let of_attempt = |rest: &str| rest.ends_with("/follow-up") || rest.ends_with("/merge");
    matches!(path, "/api/tasks" | "/api/tasks/create-and-start" | "/api/task-attempts")
        || path.strip_prefix("/api/task-attempts/").is_some_and(of_attempt)
}
