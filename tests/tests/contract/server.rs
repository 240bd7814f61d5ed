//! The real server with a home of its own, and the plain means to talk to it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use forge_client::{Client, RequestBuilder};
use serde_json::{Value, json};

pub struct Server {
    child: Child,
    port: u16,
    pub temp: tempfile::TempDir,
    client: Client,
}

pub struct Answer {
    pub status: u16,
    /// Parsed when it is JSON, else the text.
    pub body: Value,
}

impl Server {
    pub async fn start() -> Server {
        let temp = tempfile::tempdir().expect("a temporary directory");
        let home = temp.path().join("home");
        std::fs::create_dir(&home).expect("a home");
        let log = std::fs::File::create(temp.path().join("server.log")).expect("a log");
        let child = Command::new(binary())
            .arg("serve")
            .env("HOME", &home)
            .env("FORGE_HOME", &home)
            .env("FORGE_WORKTREE_DIR", temp.path().join("worktrees"))
            .env("BACKEND_PORT", "0")
            .env("HOST", "127.0.0.1")
            .env("DISABLE_BROWSER_OPEN", "1")
            .env_remove("DATABASE_URL")
            .current_dir(&home)
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a second handle"))
            .stderr(log)
            .spawn()
            .expect("the server starts");
        let client = Client::over(forge_tests::client().timeout(Duration::from_secs(30)), "", None);
        let mut server = Server { child, port: 0, temp, client };
        server.port = server.wait_port(&home).await;
        server.client = server.client.at(&format!("http://127.0.0.1:{}", server.port), None);
        server
    }

    async fn wait_port(&mut self, home: &Path) -> u16 {
        for _ in 0..500 {
            let port =
                std::fs::read_to_string(home.join("port")).ok().and_then(|text| text.trim().parse().ok());
            if let Some(port) = port {
                return port;
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                break_with_log(self.temp.path(), &format!("the server ended: {status}"));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        break_with_log(self.temp.path(), "no port file within 10 s")
    }

    pub fn socket_url(&self, path: &str) -> String {
        format!("ws://127.0.0.1:{}{path}", self.port)
    }

    pub fn request(&self, method: &str, path: &str) -> RequestBuilder {
        self.client.request(method.parse().expect("a method"), path)
    }

    pub async fn ask(&self, request: RequestBuilder) -> Answer {
        let response = request.timeout(Duration::from_secs(30)).send().await.expect("an answer");
        let status = response.status().as_u16();
        let bytes = response.bytes().await.expect("the body");
        let body =
            serde_json::from_slice(&bytes).unwrap_or_else(|_| Value::from(String::from_utf8_lossy(&bytes)));
        Answer { status, body }
    }

    /// A request that prepares the state; its refusal is not a failure here, the recording after it will show it.
    pub async fn prepare(&self, method: &str, path: &str, body: Value) -> Value {
        let mut answer = self.ask(self.request(method, path).json(&body)).await;
        answer.body["data"].take()
    }

    pub async fn get(&self, path: &str) -> Value {
        self.ask(self.request("GET", path)).await.body["data"].take()
    }

    pub async fn use_fake_agent(&self) {
        let content = self.get("/api/profiles").await["content"].as_str().expect("profiles").to_owned();
        let mut profiles: Value = serde_json::from_str(&content).expect("profiles as JSON");
        let variants = profiles["executors"]["CLAUDE_CODE"].as_object_mut().expect("CLAUDE_CODE");
        for options in variants.values_mut() {
            options["CLAUDE_CODE"]["base_command_override"] = json!(env!("CARGO_BIN_EXE_fake-claude"));
        }
        self.prepare("PUT", "/api/profiles", profiles).await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn break_with_log(temp: &Path, reason: &str) -> ! {
    let log = std::fs::read_to_string(temp.join("server.log")).unwrap_or_default();
    panic!("{reason}\n{log}")
}

/// The binary built beside this test.
fn binary() -> PathBuf {
    let own = std::env::current_exe().expect("the path of the test");
    let path = own.parent().and_then(Path::parent).expect("a target directory").join("forge");
    assert!(path.exists(), "{} is missing: build it with `cargo build -p forge` first", path.display());
    path
}
