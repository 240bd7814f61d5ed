//! A Forge whose project has its remote on a code host of this machine.

use std::path::PathBuf;

use forge_tests::{CodeHost, Dialect, Started, TestForge, git, text};
use serde_json::{Value, json};

pub const TOKEN: &str = "tok-5ecret-0123456789";

pub struct Published {
    pub host: CodeHost,
    pub forge: TestForge,
    pub project: String,
    pub repo: PathBuf,
    /// The bare repository behind the remote.
    pub bare: PathBuf,
}

impl Published {
    /// The host asks for [`TOKEN`], and Forge has it.
    pub async fn with_token(dialect: Dialect) -> Self {
        let published = Self::start(dialect, Some(TOKEN), &[]).await;
        published.host.require(TOKEN);
        published
    }

    pub async fn start(dialect: Dialect, token: Option<&str>, env: &[(&str, &str)]) -> Self {
        let host = CodeHost::start(dialect).await;
        let path = if dialect == Dialect::Gitlab { "acme/tools/widgets" } else { "acme/widgets" };
        let url = host.repository(path);
        let mut env = [&[("FORGE_PR_POLL_S", "1")], env].concat();
        let mut settings = json!({"hosts": host.settings()});
        match (dialect, token) {
            (Dialect::Github, Some(token)) => settings["github"] = json!({"pat": token}),
            (Dialect::Gitlab, Some(token)) => env.push(("GITLAB_TOKEN", token)),
            (Dialect::Gitea, Some(token)) => env.push(("GITEA_TOKEN", token)),
            (_, None) => {}
        }
        let forge = TestForge::with_settings(&[], &env, &settings).await;
        let (project, repo) = forge.project("repo").await;
        let bare = host.bare(path);
        git(&repo, &["push", "-q", &bare.to_string_lossy(), "main"]);
        git(&repo, &["remote", "add", "origin", &url]);
        Self { host, forge, project, repo, bare }
    }

    /// An attempt whose agent wrote one file and ended.
    pub async fn worked(&self, title: &str) -> Started {
        let script = format!("write {}.txt x\nsay done", title.replace(' ', "-"));
        let task = self.forge.start_scripted(&self.project, title, &script).await;
        self.forge.settled(&task.attempt()).await;
        task
    }

    pub async fn act(&self, attempt: &Value, verb: &str, body: &Value) -> forge_tests::Answer {
        let path = format!("/api/task-attempts/{}/{verb}", text(&attempt["id"]));
        self.forge.post(&path, body).await
    }
}
