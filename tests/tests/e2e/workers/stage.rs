//! A server with workers, and the tmux servers that it uses.

use std::path::PathBuf;
use std::process::Command;

use forge_tests::{TestForge, err, out, output, pid_in, text};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A server whose workers have a tmux server of their own, which ends with it.
pub struct Stage {
    pub forge: TestForge,
    pub socket: String,
    /// Where its tmux servers are, also the one that stands for the user's own.
    sockets: TempDir,
}

impl Stage {
    pub async fn set(fleet: Value) -> Stage {
        Self::with(&[], fleet).await
    }

    /// With variables for the server.
    pub async fn with(env: &[(&str, &str)], fleet: Value) -> Stage {
        let socket = format!("forge-test-{}", uuid::Uuid::new_v4().simple());
        let mut fleet = fleet;
        fleet["socket"] = json!(socket);
        let sockets = TempDir::new().expect("a folder");
        let dir = sockets.path().display().to_string();
        let env: Vec<(&str, &str)> = env.iter().copied().chain([("TMUX_TMPDIR", dir.as_str())]).collect();
        let forge = TestForge::with_settings(&[], &env, &json!({ "fleet": fleet })).await;
        Stage { forge, socket, sockets }
    }

    /// With restarts that do not wait.
    pub async fn recovering(most: u32) -> Stage {
        let rules = json!({"dead_worker_policy": "auto", "pause_secs": 0, "max_restart_attempts": most});
        Self::set(json!({ "recovery": rules })).await
    }

    pub fn tmux(&self, args: &[&str]) -> String {
        self.tmux_on(&self.socket, args)
    }

    /// The server that `tmux` without options speaks to is `default`.
    pub fn tmux_on(&self, socket: &str, args: &[&str]) -> String {
        let mut tmux = Command::new("tmux");
        tmux.args(["-L", socket]).args(args).env("TMUX_TMPDIR", self.sockets.path()).env_remove("TMUX");
        out(&tmux.output().expect("tmux")).trim_end().to_owned()
    }

    /// What another program makes of a worker's file.
    pub fn write_status(&self, id: &str, body: &str) {
        let file = self.forge.home().join(format!("status/{id}.json"));
        let draft = file.with_extension("draft");
        std::fs::write(&draft, body).expect("a status file");
        std::fs::rename(&draft, &file).expect("a status file");
    }

    pub fn sessions(&self) -> Vec<String> {
        self.tmux(&["list-sessions", "-F", "#{session_name}"]).lines().map(str::to_owned).collect()
    }

    pub fn script(&self, body: &str) -> PathBuf {
        let path = self.forge.dir().join(format!("script-{}", uuid::Uuid::new_v4().simple()));
        std::fs::write(&path, body).expect("a script");
        path
    }

    pub fn order(&self, id: &str, body: &str) -> Value {
        let workspace = self.forge.dir().canonicalize().expect("a folder");
        let script = self.script(body);
        json!({"id": id, "launcher": "scripted", "model": "none", "workspace": workspace,
            "env": {"FORGE_SCRIPT": script, "SECRET": "s3cret"}})
    }

    pub async fn spawn(&self, id: &str, body: &str) -> Value {
        self.forge.post("/api/workers", &self.order(id, body)).await.data()
    }

    pub async fn until(&self, id: &str, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        self.forge.until(&format!("/api/workers/{id}"), what, holds).await
    }

    /// The pid that the script wrote to `<name>` in the workspace.
    pub async fn pid(&self, name: &str) -> u32 {
        pid_in(&self.forge.dir().join(name)).await
    }

    pub async fn alerts(&self) -> Vec<(String, String)> {
        let alerts = self.forge.get("/api/alerts").await.data();
        let open = alerts.as_array().unwrap().iter().filter(|alert| alert["resolved_at"].is_null());
        open.map(|alert| (text(&alert["kind"]), text(&alert["subject"]))).collect()
    }

    pub async fn act(&self, id: &str, verb: &str) -> Value {
        self.forge.post(&format!("/api/workers/{id}/{verb}"), &json!({})).await.data()
    }

    /// What a command prints, and the number it ends with.
    pub async fn run(&self, args: &[&str]) -> (String, String, i32) {
        let mut command = self.forge.command();
        command.args(args);
        let done = output(command).await;
        (out(&done), err(&done), done.status.code().unwrap_or(-1))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
        self.tmux_on("default", &["kill-server"]);
    }
}

/// An agent that says who it is and waits.
pub fn waiting(name: &str) -> String {
    format!("echo $$ >{name}; exec sleep 600")
}

pub fn words(worker: &Value) -> (&str, &str) {
    (worker["phase"].as_str().unwrap_or_default(), worker["health"]["level"].as_str().unwrap_or_default())
}
