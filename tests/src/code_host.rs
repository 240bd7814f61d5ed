//! A code host on this machine: bare repositories over `git http-backend`, and the few API calls of GitHub, GitLab and
//! Gitea that Forge makes. It keeps what it was given and every request it got.
//!
//! Invariant: with a token set, neither git nor the API lets anybody in without it; and while git waits for an answer, no
//! process of this machine has the token among its arguments.

mod api;
mod backend;

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::git;

/// Whose words the API uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    Github,
    Gitlab,
    Gitea,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Seen {
    pub method: String,
    pub path: String,
    pub query: String,
    pub authorization: Option<String>,
    pub if_none_match: Option<String>,
    pub body: Value,
}

pub(crate) struct Pull {
    pub number: i64,
    pub title: String,
    pub body: String,
    pub head: String,
    pub base: String,
    /// `open`, `closed` or `merged`.
    pub state: &'static str,
    /// The revision of its last change, by which lists are sorted.
    pub changed: u64,
}

#[derive(Default)]
pub(crate) struct State {
    pub token: Option<String>,
    pub may_write: bool,
    pub pulls: Vec<Pull>,
    pub issues: Vec<(i64, String, String, Vec<String>)>,
    pub comments: Vec<(i64, String)>,
    /// Answers of the device login, one after the other.
    pub login: Vec<Value>,
    pub seen: Vec<Seen>,
    /// Changes with everything that a list shows.
    pub revision: u64,
    pub token_in_arguments: bool,
}

pub struct CodeHost {
    pub dialect: Dialect,
    pub port: u16,
    dir: TempDir,
    state: Arc<Mutex<State>>,
    server: JoinHandle<()>,
}

impl CodeHost {
    /// A host that lets everybody in.
    pub async fn start(dialect: Dialect) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let dir = TempDir::new().expect("a temporary folder");
        let state = Arc::new(Mutex::new(State { may_write: true, ..State::default() }));
        let server = tokio::spawn(accept(listener, dialect, port, dir.path().to_owned(), Arc::clone(&state)));
        Self { dialect, port, dir, state, server }
    }

    /// From now on only this token opens the door.
    pub fn require(&self, token: &str) {
        self.state().token = Some(token.to_owned());
    }

    /// The token may read but not write.
    pub fn forbid_writing(&self) {
        self.state().may_write = false;
    }

    /// A bare repository, and the address of its remote.
    pub fn repository(&self, path: &str) -> String {
        let bare = self.bare(path);
        std::fs::create_dir_all(&bare).expect("mkdir");
        git(&bare, &["init", "-q", "--bare", "-b", "main"]);
        git(&bare, &["config", "http.receivepack", "true"]);
        format!("http://127.0.0.1:{}/{path}.git", self.port)
    }

    pub fn bare(&self, path: &str) -> PathBuf {
        self.dir.path().join(format!("{path}.git"))
    }

    /// What Forge's settings say about this host.
    pub fn settings(&self) -> Value {
        let (kind, api) = match self.dialect {
            Dialect::Github => ("github", "api/v3"),
            Dialect::Gitlab => ("gitlab", "api/v4"),
            Dialect::Gitea => ("gitea", "api/v1"),
        };
        json!({format!("127.0.0.1:{}", self.port): {
            "kind": kind,
            "api": format!("http://127.0.0.1:{}/{api}", self.port),
        }})
    }

    pub fn add_issue(&self, number: i64, title: &str, body: &str, labels: &[&str]) {
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        self.state().issues.push((number, title.to_owned(), body.to_owned(), labels));
    }

    pub fn comments(&self) -> Vec<(i64, String)> {
        self.state().comments.clone()
    }

    /// A pull request that somebody else opened.
    pub fn add_pull(&self, head: &str, base: &str) -> i64 {
        self.state().open(head, base, "by hand", "")
    }

    pub fn set_pull(&self, number: i64, state: &'static str) {
        let mut all = self.state();
        all.revision += 1;
        let changed = all.revision;
        let pull = all.pulls.iter_mut().find(|pull| pull.number == number).expect("a known pull request");
        (pull.state, pull.changed) = (state, changed);
    }

    /// Title, words, head and base of a pull request.
    pub fn pull(&self, number: i64) -> (String, String, String, String) {
        let state = self.state();
        let pull = state.pulls.iter().find(|pull| pull.number == number).expect("a known pull request");
        (pull.title.clone(), pull.body.clone(), pull.head.clone(), pull.base.clone())
    }

    pub fn pull_count(&self) -> usize {
        self.state().pulls.len()
    }

    pub fn answer_login(&self, answers: Vec<Value>) {
        self.state().login = answers;
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.state().seen.clone()
    }

    pub fn token_was_in_arguments(&self) -> bool {
        self.state().token_in_arguments
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CodeHost {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl State {
    pub(crate) fn open(&mut self, head: &str, base: &str, title: &str, body: &str) -> i64 {
        self.revision += 1;
        let number = self.pulls.len() as i64 + 1;
        let owned = |text: &str| text.to_owned();
        let (title, body, head, base) = (owned(title), owned(body), owned(head), owned(base));
        let changed = self.revision;
        self.pulls.push(Pull { number, title, body, head, base, state: "open", changed });
        number
    }

    /// Whether the request carries the token, in whichever form.
    fn admits(&self, authorization: Option<&str>) -> bool {
        let Some(token) = &self.token else { return true };
        let Some((scheme, value)) = authorization.and_then(|value| value.split_once(' ')) else {
            return false;
        };
        if scheme != "Basic" {
            return value == token;
        }
        let plain = base64::engine::general_purpose::STANDARD.decode(value).unwrap_or_default();
        String::from_utf8_lossy(&plain).split_once(':').is_some_and(|(_, secret)| secret == token)
    }
}

async fn accept(listener: TcpListener, dialect: Dialect, port: u16, root: PathBuf, state: Arc<Mutex<State>>) {
    while let Ok((stream, _)) = listener.accept().await {
        let (root, state) = (root.clone(), Arc::clone(&state));
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let (root, state) = (root.clone(), Arc::clone(&state));
                async move { Ok::<_, Infallible>(answer(request, dialect, port, root, state).await) }
            });
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

async fn answer(
    request: Request<Incoming>,
    dialect: Dialect,
    port: u16,
    root: PathBuf,
    state: Arc<Mutex<State>>,
) -> Response<Full<Bytes>> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let header = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let seen = Seen {
        method: head.method.to_string(),
        path: head.uri.path().to_owned(),
        query: head.uri.query().unwrap_or_default().to_owned(),
        authorization: header("authorization"),
        if_none_match: header("if-none-match"),
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
    };
    let admitted = {
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.seen.push(seen.clone());
        state.admits(seen.authorization.as_deref())
    };
    if seen.path.contains(".git/") {
        if !admitted {
            return reply(401, &[("www-authenticate", "Basic realm=\"git\"")], Bytes::new());
        }
        let token = state.lock().unwrap_or_else(PoisonError::into_inner).token.clone();
        if token.is_some_and(|token| backend::is_in_arguments(&token)) {
            state.lock().unwrap_or_else(PoisonError::into_inner).token_in_arguments = true;
        }
        return backend::serve(&root, &seen, &head.headers, body).await;
    }
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    api::answer(&mut state, dialect, port, &seen, admitted)
}

fn reply(status: u16, headers: &[(&str, &str)], body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    response.body(Full::new(body)).expect("a response")
}
