//! Speaking to a server: where it is, and its envelope turned into a result.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{self, http::header};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use crate::home;
use crate::settings::{self, Env};
use crate::transcript::clean;

/// A server that is there answers this fast, even when it is busy.
const PROBE_LIMIT: Duration = Duration::from_secs(3);

/// A socket is open, or refused, in this time.
const OPEN_LIMIT: Duration = Duration::from_secs(10);

/// Pauses before a request whose answer was lost is sent again.
const LOST_PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(1000)];
/// How long a server that is being restarted may be away.
const BACK_LIMIT: Duration = Duration::from_secs(15);

const UNAUTHORIZED: u16 = 401;

pub type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// There is no server to ask.
#[derive(Debug)]
pub struct Unreachable {
    base: String,
}

impl std::fmt::Display for Unreachable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "no Forge answers at {}; start one with `forge serve`, or name another with FORGE_BACKEND_URL",
            self.base
        )
    }
}

impl std::error::Error for Unreachable {}

/// What a server answers when it does not do what it was asked.
#[derive(Debug)]
pub struct Refused {
    pub status: u16,
    message: String,
    /// What programs are to look at, where the server says more than words.
    pub data: Value,
}

impl Refused {
    /// The same refusal in other words.
    pub fn saying(self, message: String) -> Self {
        Self { message, ..self }
    }
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refused {}

/// Something between here and the server answers in its place.
#[derive(Debug)]
pub struct Foreign {
    status: u16,
}

impl std::fmt::Display for Foreign {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "something that is no Forge answered {}; is there a proxy in between?", self.status)
    }
}

impl std::error::Error for Foreign {}

/// How streams get through, from the best way to the one that always does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Socket,
    Events,
    Pages,
}

#[derive(Clone)]
pub struct Client {
    base: String,
    token: Option<String>,
    curl: String,
    trust: Trust,
    http: reqwest::Client,
    /// What was found out about the network; clones share it.
    way: Arc<Mutex<Way>>,
}

/// Where a server answers, and the token it may want.
pub struct Whereabouts {
    pub base: String,
    pub token: Option<String>,
    /// How `curl` is given the token, without showing it.
    curl: String,
    trust: Trust,
}

/// Whose word there is for an address.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// The user named it, or the server that holds this home did.
    Named,
    /// Nobody's: anybody can listen there, so no token is sent.
    Guessed,
}

impl Whereabouts {
    /// The server of `FORGE_BACKEND_URL`, else of a port in the environment, else of this home, else a guess.
    pub fn find() -> Result<Self> {
        let env = Env::load();
        let home = settings::home(env)?;
        if let Some(url) = env.get("FORGE_BACKEND_URL") {
            return Ok(Self::at(url.trim_end_matches('/').to_owned(), env, &home));
        }
        let variable = |key: &str| env.get(key).and_then(|text| text.parse().ok());
        let port: Option<u16> = variable("BACKEND_PORT").or_else(|| variable("PORT"));
        let of_home = Self::of_home(env, &home);
        if let Some(port) = port.filter(|port| *port != 0) {
            let is_its = |own: &Self| own.base.ends_with(&format!(":{port}"));
            return Ok(of_home.filter(is_its).unwrap_or_else(|| Self::at(local(port), env, &home)));
        }
        // A server that takes any free port is found by its own word or not at all.
        let guess = || {
            let base = local(port.unwrap_or(settings::DEFAULT_PORT));
            Self { base, token: None, curl: String::new(), trust: Trust::Guessed }
        };
        Ok(of_home.unwrap_or_else(guess))
    }

    /// The server that holds the home and has left word there where it listens. The word of one that is gone is worth
    /// nothing: its port may be anybody's by now.
    pub fn of_home(env: &Env, home: &Path) -> Option<Self> {
        let base = home::address(home)?;
        home::is_held(home).then(|| Self::at(base, env, home))
    }

    fn at(base: String, env: &Env, home: &Path) -> Self {
        let file = home.join("token");
        let (token, words) = match env.get("FORGE_TOKEN") {
            Some(token) => (Some(token), "$FORGE_TOKEN".to_owned()),
            None => (std::fs::read_to_string(&file).ok(), format!("$(cat {})", file.display())),
        };
        let token = token.map(|token| token.trim().to_owned());
        let curl = token.as_ref().map(|_| format!(" -H \"authorization: Bearer {words}\""));
        Self { base, token, curl: curl.unwrap_or_default(), trust: Trust::Named }
    }
}

impl From<Whereabouts> for Client {
    fn from(Whereabouts { base, token, curl, trust }: Whereabouts) -> Self {
        Self { curl, trust, ..Self::new(base, token) }
    }
}

impl Client {
    pub fn find() -> Result<Self> {
        Whereabouts::find().map(Self::from)
    }

    pub fn new(base: String, token: Option<String>) -> Self {
        let http = reqwest::Client::new();
        let base = base.trim_end_matches('/').to_owned();
        Self {
            base,
            token,
            curl: String::new(),
            trust: Trust::Named,
            http,
            way: Arc::new(Mutex::new(Way::Socket)),
        }
    }

    pub fn base(&self) -> &str {
        &self.base
    }

    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        self.send(self.http.get(format!("{}{path}", self.base))).await
    }

    pub async fn post<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T> {
        let request = self.http.post(format!("{}{path}", self.base)).json(body);
        match has_one_effect(path) {
            true => self.send_once(request).await,
            false => self.send(request).await,
        }
    }

    pub async fn put<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T> {
        self.send(self.http.put(format!("{}{path}", self.base)).json(body)).await
    }

    pub async fn delete<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        self.send(self.http.delete(format!("{}{path}", self.base))).await
    }

    /// What the server says of itself; `None` when there is none.
    pub async fn ready(&self) -> Option<Value> {
        let probe =
            async { self.http.get(format!("{}/health", self.base)).send().await.ok()?.json().await.ok() };
        tokio::time::timeout(PROBE_LIMIT, probe).await.ok()?
    }

    /// What a person types after `curl` to come in, without the token itself; empty when none is needed.
    pub fn curl_header(&self) -> &str {
        &self.curl
    }

    /// Opens a stream.
    pub async fn connect(&self, path: &str) -> Result<Socket> {
        let url = format!("{}{path}", self.base.replacen("http", "ws", 1));
        let mut request = url.into_client_request()?;
        if let Some(token) = &self.token {
            request.headers_mut().insert(header::AUTHORIZATION, format!("Bearer {token}").parse()?);
        }
        let handshake = tokio_tungstenite::connect_async(request);
        match tokio::time::timeout(OPEN_LIMIT, handshake).await.context("no answer to a WebSocket")? {
            Ok((socket, _)) => Ok(socket),
            Err(tungstenite::Error::Http(answer)) => {
                let status = answer.status().as_u16();
                let is_ours = answer.headers().get(header::CONTENT_TYPE).is_some_and(is_json);
                let body = answer.body().as_deref().unwrap_or_default();
                Err(match is_ours {
                    true => refused(status, &serde_json::from_slice(body).unwrap_or_default()).into(),
                    false => Foreign { status }.into(),
                })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a stream of server-sent events; how long that may take is the caller's affair.
    pub async fn listen(&self, path: &str) -> Result<reqwest::Response> {
        let request = self.signed(self.http.get(format!("{}{path}", self.base)));
        let answer = request.send().await?;
        let status = answer.status().as_u16();
        let kind = answer.headers().get(header::CONTENT_TYPE);
        let is_events = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        match (kind.is_some_and(is_json), is_events && status == 200) {
            (_, true) => Ok(answer),
            (true, _) => Err(refused(status, &answer.json().await.unwrap_or_default()).into()),
            (false, _) => Err(Foreign { status }.into()),
        }
    }

    /// The best way for a stream that is not known to be blocked.
    pub fn way(&self) -> Way {
        *self.way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives up a way for the rest of this command; answers the next one.
    pub fn give_up(&self, way: Way) -> Way {
        let mut known = self.way.lock().unwrap_or_else(PoisonError::into_inner);
        if *known == way {
            *known = if way == Way::Socket { Way::Events } else { Way::Pages };
        }
        *known
    }

    fn signed(&self, request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    /// Sends a request under a key. When its answer is lost it is sent again, and the server carries it out once.
    async fn send_once<T: DeserializeOwned>(&self, request: reqwest::RequestBuilder) -> Result<T> {
        let request = request.header("idempotency-key", uuid::Uuid::new_v4().to_string());
        for pause in LOST_PAUSES {
            let Some(this_time) = request.try_clone() else { break };
            match self.exchange(this_time).await {
                Ok((status, body)) => return self.read(status, &body),
                // It did not get there.
                Err(error) if error.is_connect() => return Err(self.unreachable().into()),
                Err(_) => tokio::time::sleep(pause).await,
            }
            // An older server would carry it out twice.
            if !self.is_our_version().await {
                return Err(self.unreachable().into());
            }
        }
        self.send(request).await
    }

    /// Whether a server of this version answers, within the time that one needs to come back.
    async fn is_our_version(&self) -> bool {
        let back = async {
            loop {
                if let Some(ready) = self.ready().await {
                    return ready["version"] == env!("CARGO_PKG_VERSION");
                }
                tokio::time::sleep(LOST_PAUSES[0]).await;
            }
        };
        tokio::time::timeout(BACK_LIMIT, back).await.unwrap_or(false)
    }

    fn unreachable(&self) -> Unreachable {
        Unreachable { base: self.base.clone() }
    }

    /// A request and its whole answer.
    async fn exchange(&self, request: reqwest::RequestBuilder) -> reqwest::Result<(u16, Vec<u8>)> {
        let answer = self.signed(request).send().await?;
        let status = answer.status().as_u16();
        Ok((status, answer.bytes().await?.to_vec()))
    }

    async fn send<T: DeserializeOwned>(&self, request: reqwest::RequestBuilder) -> Result<T> {
        let (status, body) = self.exchange(request).await.map_err(|_| self.unreachable())?;
        self.read(status, &body)
    }

    fn read<T: DeserializeOwned>(&self, status: u16, body: &[u8]) -> Result<T> {
        let read = open_envelope(status, body);
        if status != UNAUTHORIZED || self.trust == Trust::Named {
            return read;
        }
        let base = &self.base;
        read.with_context(|| {
            format!("no token was sent to {base}, because nothing says that it is yours; if it is, set FORGE_BACKEND_URL={base}")
        })
    }
}

/// What the server was asked for, or why it was refused.
fn open_envelope<T: DeserializeOwned>(status: u16, body: &[u8]) -> Result<T> {
    let mut envelope: Value =
        serde_json::from_slice(body).with_context(|| format!("status {status}, not JSON"))?;
    if envelope["success"] != true {
        return Err(refused(status, &envelope).into());
    }
    // It did what it was asked, and has a warning about it.
    if let Some(warning) = envelope["message"].as_str() {
        eprintln!("forge: {}", clean(warning));
    }
    serde_json::from_value(envelope["data"].take()).map_err(|error| anyhow!("unexpected answer: {error}"))
}

/// Whether the server carries such a request out once, however often it comes under one key.
fn has_one_effect(path: &str) -> bool {
    let of_attempt = |rest: &str| rest.ends_with("/follow-up") || rest.ends_with("/merge");
    matches!(path, "/api/tasks" | "/api/tasks/create-and-start" | "/api/task-attempts")
        || path.strip_prefix("/api/task-attempts/").is_some_and(of_attempt)
}

/// What comes from a Forge is JSON; a proxy's refusals are pages.
fn is_json(kind: &header::HeaderValue) -> bool {
    kind.as_bytes().starts_with(b"application/json")
}

fn refused(status: u16, envelope: &Value) -> Refused {
    let data = envelope["error_data"].clone();
    let message = envelope["message"].as_str().or(data["message"].as_str()).map(str::to_owned);
    Refused { status, message: message.unwrap_or_else(|| format!("the server answered {status}")), data }
}

fn local(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}
