//! The one fixture: an engine on a temp dir with a router in front of it.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::process::Command;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use axum::response::Response;
use forge_core::{AgentsOnExit, Config, Forge};
use forge_server::{Door, OpenTo, Peer};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

pub const UNKNOWN: &str = "00000000-0000-4000-8000-000000000000";

pub const USER: Peer = Peer { address: IpAddr::V4(Ipv4Addr::LOCALHOST), is_user: true };
/// Another user of this machine.
pub const STRANGER: Peer = Peer { is_user: false, ..USER };

pub struct World {
    pub dir: TempDir,
    pub forge: Forge,
    pub router: Router,
    pub shutdown: CancellationToken,
}

/// A door as a loopback server has it.
pub fn door() -> Door {
    Door {
        bind: ([127, 0, 0, 1], 8887).into(),
        open_to: OpenTo::User,
        token: None,
        allowed_hosts: Vec::new(),
        allowed_origins: Vec::new(),
        auth_required: false,
        version: "1.2.3".into(),
        login_code: None,
    }
}

impl World {
    pub async fn new() -> Self {
        Self::with(door()).await
    }

    pub async fn with(door: Door) -> Self {
        Self::build(door, keeper()).await
    }

    /// Without a keeper every start fails in a way that cannot be foreseen.
    pub async fn without_keeper() -> Self {
        Self::build(door(), "/no-such-program".into()).await
    }

    async fn build(door: Door, exe: PathBuf) -> Self {
        Self::open(tempfile::tempdir().unwrap(), door, exe).await
    }

    /// The next server on the same home.
    pub async fn again(self) -> Self {
        self.shutdown.cancel();
        self.forge.close(AgentsOnExit::Stop).await;
        Self::open(self.dir, door(), keeper()).await
    }

    async fn open(dir: TempDir, door: Door, exe: PathBuf) -> Self {
        // Nothing here may use the network.
        let settings =
            json!({"hosts": {"github.com": {"api": "http://127.0.0.1:9", "web": "http://127.0.0.1:9"}}});
        std::fs::write(dir.path().join("config.json"), settings.to_string()).unwrap();
        let forge = Forge::open(config(dir.path().to_path_buf(), exe)).await.unwrap();
        let shutdown = CancellationToken::new();
        let router = forge_server::router(forge.clone(), door, shutdown.clone());
        Self { dir, forge, router, shutdown }
    }

    /// As the user that runs the server.
    pub async fn send(&self, request: Request<Body>) -> Response {
        self.send_from(USER, request).await
    }

    pub async fn send_from(&self, peer: Peer, mut request: Request<Body>) -> Response {
        request.extensions_mut().insert(peer);
        self.router.clone().oneshot(request).await.unwrap()
    }

    pub async fn get(&self, path: &str) -> (StatusCode, Value) {
        self.ask("GET", path, None).await
    }

    pub async fn ask(&self, method: &str, path: &str, body: Option<Value>) -> (StatusCode, Value) {
        let request = Request::builder().method(method).uri(path).header(header::HOST, "localhost:8887");
        let request = request.header(header::CONTENT_TYPE, "application/json");
        let body = body.map_or(Body::empty(), |body| Body::from(body.to_string()));
        let answer = read(self.send(request.body(body).unwrap()).await).await;
        if answer.1["error_code"].is_string() {
            self.expect_described(method, path, &answer).await;
        }
        answer
    }

    /// The description has this failure, with its code.
    async fn expect_described(&self, method: &str, path: &str, (status, body): &(StatusCode, Value)) {
        static DOCUMENT: tokio::sync::OnceCell<Value> = tokio::sync::OnceCell::const_new();
        let document = DOCUMENT.get_or_init(async || {
            let request = Request::builder().uri("/api/openapi.json").header(header::HOST, "localhost:8887");
            read(self.send(request.body(Body::empty()).unwrap()).await).await.1
        });
        let document = document.await;
        let path = path.split('?').next().unwrap().trim_end_matches('/');
        let parts: Vec<&str> = path.split('/').collect();
        let fits = |known: &&String| {
            let known: Vec<&str> = known.split('/').collect();
            known.len() == parts.len()
                && known.iter().zip(&parts).all(|(one, part)| one.starts_with('{') || one == part)
        };
        let paths = document["paths"].as_object().unwrap();
        let known = paths.keys().filter(fits).min_by_key(|known| known.matches('{').count());
        let Some(operation) = known.and_then(|known| paths[known].get(method.to_ascii_lowercase())) else {
            assert!(matches!(status.as_u16(), 404 | 405), "{method} {path}: {body}");
            return;
        };
        let schema = &operation["responses"][status.as_str()]["content"]["application/json"]["schema"];
        let forms = schema["anyOf"].as_array().map_or(std::slice::from_ref(schema), Vec::as_slice);
        let mut codes = forms.iter().map(|form| &form["allOf"][1]["properties"]["error_code"]["enum"]);
        let is_known =
            codes.any(|codes| codes.as_array().is_some_and(|all| all.contains(&body["error_code"])));
        assert!(is_known, "{method} {path}: {status} with this code is not described: {body}");
    }

    /// The id of a project on a fresh repository.
    pub async fn project(&self) -> String {
        let path = self.dir.path().join(format!("repo-{}", uuid::Uuid::new_v4().simple()));
        git(&["init", "-q", "-b", "main", path.to_str().unwrap()]);
        let at = ["-C", path.to_str().unwrap(), "-c", "user.name=t", "-c", "user.email=t@t"];
        git(&[&at[..], &["commit", "-q", "--allow-empty", "-m", "first"]].concat());
        let body = json!({"name": "demo", "git_repo_path": path, "use_existing_repo": true});
        let (status, body) = self.ask("POST", "/api/projects", Some(body)).await;
        assert_eq!((status, &body["success"]), (StatusCode::OK, &json!(true)), "{body}");
        body["data"]["id"].as_str().unwrap().to_owned()
    }

    pub fn git_in(&self, path: &str, args: &[&str]) {
        git(&[&["-C", path], args].concat());
    }

    pub async fn task(&self, project: &str, title: &str) -> String {
        let body = json!({"project_id": project, "title": title});
        let (status, body) = self.ask("POST", "/api/tasks", Some(body)).await;
        assert_eq!(status, StatusCode::OK, "{body}");
        body["data"]["id"].as_str().unwrap().to_owned()
    }

    pub async fn close(self) {
        self.shutdown.cancel();
        self.forge.close(AgentsOnExit::Stop).await;
    }
}

/// The example binary of this package, built together with the tests.
fn keeper() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let path = tests.ancestors().nth(2).unwrap().join("examples/keeper");
    assert!(path.exists(), "{} is missing: cargo build -p forge-server --example keeper", path.display());
    path
}

fn config(home: PathBuf, exe: PathBuf) -> Config {
    Config {
        worktree_base: home.join("worktrees"),
        database: home.join("forge.db"),
        exe,
        home,
        branch_prefix: None,
        public_url: "http://127.0.0.1:0".into(),
        backend_url: String::new(),
        workspaces: Vec::new(),
        spares: 0,
        time_limit_s: None,
        silence_limit_s: None,
        approval_limit_s: 3600,
        expiry_h: 72,
        online: Default::default(),
    }
}

fn git(args: &[&str]) {
    let status = Command::new("git").args(args).status().unwrap();
    assert!(status.success(), "git {args:?}");
}

pub async fn read(response: Response) -> (StatusCode, Value) {
    let status = response.status();
    let body = axum::body::to_bytes(response.into_body(), 64 << 20).await.unwrap();
    (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
}

/// A failure with its status, all its keys, and a message that contains `what`.
#[track_caller]
pub fn assert_fault((status, body): &(StatusCode, Value), want: u16, what: &str) {
    assert_eq!(status.as_u16(), want, "{body}");
    let keys = body.as_object().map(|body| body.len());
    assert_eq!((keys, &body["success"], &body["data"]), (Some(7), &json!(false), &Value::Null), "{body}");
    let message = body["message"].as_str().unwrap_or_default();
    assert!(message.contains(what), "'{message}' does not say '{what}'");
}
