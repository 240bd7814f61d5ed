//! Tasks that tests start: one builder for every body of `create-and-start`.

use std::ops::Deref;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::{Answer, TestForge, text};

/// A task that is not started yet; its agent is the scripted one unless another is named.
pub struct NewTask<'a> {
    forge: &'a TestForge,
    body: Value,
}

/// What `create-and-start` returned.
#[derive(Clone, Debug)]
pub struct Started(Value);

impl TestForge {
    pub fn task(&self, project: &str, title: &str) -> NewTask<'_> {
        let body =
            json!({"task": {"project_id": project, "title": title}, "executor_profile_id": "SCRIPTED"});
        NewTask { forge: self, body }
    }

    /// Starts a task with the scripted agent.
    pub async fn start_scripted(&self, project: &str, title: &str, script: &str) -> Started {
        self.task(project, title).prompt(script).start().await
    }

    pub async fn start_with(&self, project: &str, executor: &str, title: &str, prompt: &str) -> Started {
        self.task(project, title).agent(executor).prompt(prompt).start().await
    }

    /// Makes every variant of Claude run this command, with the variant's own options.
    pub async fn use_as_claude(&self, command: &str) {
        let content = text(&self.get("/api/profiles").await.data()["content"]);
        let mut profiles: Value = serde_json::from_str(&content).expect("profiles");
        let variants = profiles["executors"]["CLAUDE_CODE"].as_object_mut().expect("variants of Claude");
        for options in variants.values_mut() {
            options["CLAUDE_CODE"]["base_command_override"] = command.into();
        }
        self.put("/api/profiles", &profiles).await.data();
    }

    /// Makes Claude the program `fake-claude`, which acts by directives in its prompt.
    pub async fn use_fake_claude(&self) {
        self.use_as_claude(crate::beside("fake-claude").to_str().expect("a plain path")).await;
    }
}

impl NewTask<'_> {
    pub fn prompt(mut self, prompt: &str) -> Self {
        self.body["task"]["description"] = prompt.into();
        self
    }

    /// An agent, with its variant behind a colon.
    pub fn agent(mut self, profile: &str) -> Self {
        self.body["executor_profile_id"] = profile.into();
        self
    }

    /// Another field of the task.
    pub fn task(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.body["task"][field] = value.into();
        self
    }

    /// Another field beside the task.
    pub fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.body[field] = value.into();
        self
    }

    pub async fn start(self) -> Started {
        Started(self.ask().await.data())
    }

    /// Starts it and returns the answer, whatever it is.
    pub async fn ask(self) -> Answer {
        self.forge.post("/api/tasks/create-and-start", &self.body).await
    }

    pub fn body(self) -> Value {
        self.body
    }
}

impl Started {
    pub fn id(&self) -> String {
        text(&self.0["id"])
    }

    /// The id of its attempt.
    pub fn attempt(&self) -> String {
        text(&self.0["task_attempt"]["id"])
    }

    pub fn branch(&self) -> String {
        text(&self.0["task_attempt"]["branch"])
    }

    /// The worktree.
    pub fn place(&self) -> PathBuf {
        text(&self.0["task_attempt"]["worktree_path"]).into()
    }
}

impl Deref for Started {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}
