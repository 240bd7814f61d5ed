//! A model on this machine: speaks the APIs of Anthropic, OpenAI (Responses and Chat Completions) and Gemini well enough
//! for real agent programs, and does what the last prompt asks for (see [`script`]).
//!
//! Invariants: the answer follows from the request alone (only `flaky` counts), so it is the same for a conversation that
//! was resumed; every model call costs the same ([`usage`]); the key `bad` opens nothing; every request is kept.

mod answer;
mod anthropic;
mod chat;
mod gemini;
mod responses;
mod script;
mod tools;
pub mod usage;

use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use answer::{Body, send};
use script::{Reply, Said};
use tools::Tools;

const MAX_BODY_BYTES: usize = 32 << 20;
/// The key that is never accepted.
pub const BAD_KEY: &str = "bad";
const MODELS: [&str; 7] = [
    "fake-model",
    "claude-sonnet-4-5",
    "claude-haiku-4-5",
    "gpt-4.1",
    "gpt-5-codex",
    "gemini-2.5-pro",
    "gemini-2.5-flash",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    Anthropic,
    Responses,
    Chat,
    Gemini,
}

/// A model call as it came, and whether its answer was sent to the end.
#[derive(Clone, Debug)]
pub struct Call {
    pub api: Api,
    pub key: String,
    pub body: Value,
    /// The status, once one was sent.
    pub status: Option<u16>,
    pub sent: bool,
}

impl Call {
    /// Whether the conversation that was sent contains the words.
    pub fn says(&self, words: &str) -> bool {
        self.api.said(&self.body).iter().any(|said| said.text.contains(words))
    }

    /// Whether it is about the conversation and no turn of it: a title, a summary, who speaks next.
    pub fn is_aside(&self) -> bool {
        self.api.tools(&self.body).is_empty()
    }
}

#[derive(Default)]
struct State {
    calls: Vec<Call>,
    flaky: script::Flaky,
}

pub struct Model {
    port: u16,
    state: Arc<Mutex<State>>,
    server: JoinHandle<()>,
}

impl Model {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let state = Arc::new(Mutex::new(State::default()));
        let server = tokio::spawn(accept(listener, Arc::clone(&state)));
        Self { port, state, server }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Every model call so far.
    pub fn calls(&self) -> Vec<Call> {
        lock(&self.state).calls.clone()
    }

    /// How many calls were answered in full and belong to a turn, which is what the agent should say it used.
    pub fn sent(&self) -> i64 {
        lock(&self.state).calls.iter().filter(|call| call.sent && !call.is_aside()).count() as i64
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.server.abort();
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn accept(listener: TcpListener, state: Arc<Mutex<State>>) {
    while let Ok((stream, _)) = listener.accept().await {
        let state = Arc::clone(&state);
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let state = Arc::clone(&state);
                async move { Ok::<_, Infallible>(route(request, state).await) }
            });
            // A client that goes away in the middle of an answer is what some tests are about.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

async fn route(request: Request<Incoming>, state: Arc<Mutex<State>>) -> Response<Body> {
    let (head, body) = request.into_parts();
    let path = head.uri.path().to_owned();
    match head.method {
        Method::HEAD => return send(200, &[], &Value::Null),
        Method::GET if path.ends_with("/models") => return send(200, &[], &models(&path)),
        Method::POST => {}
        _ => return no_path(&path),
    }
    let Ok(bytes) = Limited::new(body, MAX_BODY_BYTES).collect().await else {
        return send(413, &[], &json!({"error": {"message": "the body is too long or was cut off"}}));
    };
    let Ok(body) = serde_json::from_slice::<Value>(&bytes.to_bytes()) else {
        return send(
            400,
            &[],
            &json!({"error": {"type": "invalid_request_error", "message": "the body is not JSON"}}),
        );
    };
    if path.ends_with("/messages/count_tokens") {
        return send(200, &[], &json!({"input_tokens": usage::INPUT}));
    }
    if path.ends_with(":countTokens") {
        return send(200, &[], &json!({"totalTokens": usage::INPUT}));
    }
    let Some(api) = Api::of(&path) else {
        // Agents send their telemetry to the same place.
        return if path.contains("event") { send(200, &[], &json!({})) } else { no_path(&path) };
    };
    let key = key(&head);
    let (at, reply) = {
        let mut state = lock(&state);
        let reply = match key == BAD_KEY {
            true => Reply::Status(401),
            false => script::decide(&api.said(&body), &api.tools(&body), &body, &mut state.flaky),
        };
        state.calls.push(Call { api, key, body: body.clone(), status: None, sent: false });
        (state.calls.len() - 1, reply)
    };
    let status = if let Reply::Status(status) = reply { status } else { 200 };
    lock(&state).calls[at].status = Some(status);
    let sent = move || lock(&state).calls[at].sent = true;
    answer::answer(api, &path, body, reply, sent).await
}

fn no_path(path: &str) -> Response<Body> {
    send(404, &[], &json!({"error": {"type": "not_found_error", "message": format!("no such path {path}")}}))
}

fn models(path: &str) -> Value {
    if path.contains("v1beta") {
        let model =
            |id| json!({"name": format!("models/{id}"), "supportedGenerationMethods": ["generateContent"]});
        return json!({"models": MODELS.map(model)});
    }
    let model = |id| json!({"id": id, "object": "model", "type": "model", "display_name": id, "created": 1, "owned_by": "test"});
    json!({"object": "list", "data": MODELS.map(model), "has_more": false})
}

fn key(head: &hyper::http::request::Parts) -> String {
    let header = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok());
    let bearer = header("authorization").and_then(|value| value.split_once(' ')).map(|(_, key)| key);
    let query = head.uri.query().unwrap_or_default().split('&').find_map(|pair| pair.strip_prefix("key="));
    let key = header("x-api-key").or(header("x-goog-api-key")).or(bearer).or(query);
    key.unwrap_or_default().to_owned()
}

impl Api {
    fn of(path: &str) -> Option<Api> {
        Some(match path {
            path if path.ends_with("/messages") => Api::Anthropic,
            path if path.ends_with("/responses") => Api::Responses,
            path if path.ends_with("/chat/completions") => Api::Chat,
            path if path.ends_with("enerateContent") => Api::Gemini,
            _ => return None,
        })
    }

    fn said(self, body: &Value) -> Vec<Said> {
        match self {
            Api::Anthropic => anthropic::said(body),
            Api::Responses => responses::said(body),
            Api::Chat => chat::said(body),
            Api::Gemini => gemini::said(body),
        }
    }

    fn tools(self, body: &Value) -> Tools {
        match self {
            Api::Gemini => gemini::tools(body),
            Api::Anthropic | Api::Responses | Api::Chat => Tools::listed(body),
        }
    }
}

#[cfg(test)]
mod tests;
