//! A project whose beads are given to workers.

use std::path::PathBuf;

use forge_tests::{eventually, text};
use serde_json::{Value, json};

use super::bead;
use crate::beads::project;
use crate::workers::Stage;

/// A project whose beads are done by workers that run a script.
pub struct Field {
    pub stage: Stage,
    pub project: String,
    pub repo: PathBuf,
}

impl Field {
    pub async fn plough(fleet: Value, script: &str) -> Field {
        Self::plough_with(&[], fleet, script).await
    }

    /// With variables for the server.
    pub async fn plough_with(env: &[(&str, &str)], fleet: Value, script: &str) -> Field {
        let stage = Stage::with(env, fleet).await;
        let (project, repo) = project(&stage.forge).await;
        let field = Field { stage, project, repo };
        field.teach(script);
        field
    }

    /// What a worker does from now on.
    pub fn teach(&self, script: &str) {
        let (home, dir) = (self.stage.forge.home(), self.stage.forge.dir().canonicalize().expect("a folder"));
        let path = dir.join("hand.sh");
        std::fs::write(&path, script).expect("a script");
        std::fs::create_dir_all(home.join("workers")).expect("a folder");
        let kind = format!(
            "name: hand\nlauncher: scripted\nmodel: none\ntier: standard\nenvironment:\n  FORGE_SCRIPT: {}\n  FIELD: {}\n",
            path.display(),
            dir.display()
        );
        std::fs::write(home.join("workers/hand.yaml"), kind).expect("a definition");
    }

    pub async fn bead(&self, title: &str, after: &[&str]) -> String {
        bead(&self.stage.forge, &self.project, title, "", after).await
    }

    pub async fn switch(&self, rule: Value) {
        let path = format!("/api/projects/{}/dispatch", self.project);
        let mut rule = rule;
        rule["mode"] = "worker".into();
        self.stage.forge.put(&path, &rule).await.data();
    }

    pub async fn until(&self, bead: &str, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        self.stage.forge.until(&format!("/api/beads/{bead}?project_id={}", self.project), what, holds).await
    }

    pub async fn closed(&self, bead: &str) -> Value {
        self.until(bead, "it is closed", |bead| bead["status"] == "closed").await
    }

    pub async fn parked(&self, bead: &str) -> Value {
        self.until(bead, "it waits for a person", |bead| bead["standing"]["parked"].is_string()).await
    }

    pub async fn beads(&self) -> Vec<Value> {
        let listed = self.stage.forge.get(&format!("/api/beads?project_id={}", self.project)).await.data();
        listed.as_array().expect("beads").clone()
    }

    /// All beads, once each is settled; that is a lot of work for a busy machine.
    pub async fn settled(&self) -> Vec<Value> {
        loop {
            let beads = self.beads().await;
            let Some(open) = beads.iter().find(|bead| !is_settled(bead)) else { return beads };
            self.until(&text(&open["id"]), "it is settled", is_settled).await;
        }
    }

    pub async fn attempts(&self, bead: &Value) -> Vec<Value> {
        let path = format!("/api/task-attempts?task_id={}", text(&bead["standing"]["task_id"]));
        self.stage.forge.get(&path).await.data().as_array().expect("attempts").clone()
    }

    /// Processes that a worker of this server started, and their children.
    fn remains(&self) -> Vec<String> {
        let mark = format!("FORGE_STATUS_DIR={}", self.stage.forge.home().join("status").display());
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc").expect("processes").flatten() {
            let environ = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            if environ.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes()) {
                let words = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
                found.push(String::from_utf8_lossy(&words).replace('\0', " "));
            }
        }
        found
    }

    pub async fn until_nothing_is_left(&self) {
        let look = || {
            let left = [self.remains(), self.stage.sessions()].concat();
            if left.is_empty() { Ok(()) } else { Err(left) }
        };
        eventually("nothing is left behind", look).await;
    }
}

/// Whether the bead is through, or waits for a person, or for a bead that does.
fn is_settled(bead: &Value) -> bool {
    let standing = &bead["standing"];
    let is_over =
        bead["status"] == "closed" || standing["parked"].is_string() || standing["blocked_by"] != json!([]);
    is_over && standing["lease"].is_null()
}
