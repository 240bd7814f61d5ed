//! From a prompt to a run: which project, which agent, a new attempt or one that goes on.
//!
//! Invariant: nothing is created before everything that can be checked here was checked.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use forge_types::{Executor, ProfileId};
use serde_json::{Value, json};

use super::Flags;
use crate::client::Client;
use crate::process::Process;

const TITLE_CHARS: usize = 100;

pub struct Begun {
    pub attempt: Value,
    /// The first of its runs that is to be told.
    pub run: Process,
    /// What was done that the user may not have expected.
    pub notes: Vec<String>,
}

pub async fn begin(client: &Client, flags: &Flags, prompt: &str) -> Result<Begun> {
    match &flags.follow {
        Some(attempt) => go_on(client, attempt, prompt, flags.agent.as_deref()).await,
        None => start(client, flags, prompt).await,
    }
}

async fn start(client: &Client, flags: &Flags, prompt: &str) -> Result<Begun> {
    let profile = match &flags.agent {
        Some(agent) => agent.parse::<ProfileId>().map_err(|error| anyhow::anyhow!("--agent: {error}"))?,
        None => default_profile(client).await?,
    };
    let mut notes = Vec::new();
    let project = find_project(client, flags.project.as_deref(), &mut notes).await?;
    let (title, description) = describe(prompt, flags.title.as_deref(), profile.executor);
    let body = json!({
        "task": {"project_id": project["id"], "title": title, "description": description},
        "executor_profile_id": profile,
        "base_branch": flags.base,
    });
    let mut started: Value = client.post("/api/tasks/create-and-start", &body).await?;
    let attempt = started["task_attempt"].take();
    let runs = Process::list(client, text(&attempt["id"])).await?;
    let run = runs.into_iter().next().context("the attempt has no run")?;
    Ok(Begun { attempt, run, notes })
}

async fn go_on(client: &Client, attempt: &str, prompt: &str, agent: Option<&str>) -> Result<Begun> {
    let id = find_attempt(client, attempt).await?;
    let mut body = json!({"prompt": prompt});
    let before: Value = client.get(&format!("/api/task-attempts/{id}")).await?;
    if let Some(agent) = agent {
        let profile = agent.parse::<ProfileId>().map_err(|error| anyhow::anyhow!("--agent: {error}"))?;
        let used: ProfileId = serde_json::from_value(before["executor_profile_id"].clone())?;
        if profile.executor != used.executor {
            bail!(
                "--agent: attempt {id} works with {}; another variant is possible, another agent is not",
                used.executor
            );
        }
        body["variant"] = json!(profile.variant);
    }
    let known = Process::list(client, &id).await?;
    let run: Process = client.post(&format!("/api/task-attempts/{id}/follow-up"), &body).await?;
    let mut notes = Vec::new();
    if known.iter().any(|process| process.id == run.id) {
        notes.push("the agent is at work and was told; this is its run from the beginning".to_owned());
    } else if known.iter().any(Process::is_running) {
        notes.push("another run of this attempt is at work; this one waits for its end".to_owned());
    }
    Ok(Begun { attempt: client.get(&format!("/api/task-attempts/{id}")).await?, run, notes })
}

/// The agent of the settings.
async fn default_profile(client: &Client) -> Result<ProfileId> {
    let config: Value = client.get("/api/config").await?;
    serde_json::from_value(config["executor_profile"].clone()).context("name an agent with --agent")
}

/// By id, by path, or by the present directory; a repository that Forge does not know yet becomes a project.
async fn find_project(client: &Client, named: Option<&str>, notes: &mut Vec<String>) -> Result<Value> {
    if let Some(id) = named.and_then(|text| text.parse::<uuid::Uuid>().ok()) {
        return client.get(&format!("/api/projects/{id}")).await;
    }
    let path = match named {
        Some(path) => std::path::absolute(path)?,
        None => std::env::current_dir().context("the present directory is gone")?,
    };
    let repo = match forge_git::Repo::open(&path).await {
        Ok(repo) => repo,
        Err(forge_git::GitError::NoRepository(_)) => bail!(
            "{} is not in a git repository; go to one, name one with --project, or make one with `git init`",
            path.display()
        ),
        Err(error) => return Err(error.into()),
    };
    let root = real(repo.path());
    let projects: Vec<Value> = client.get("/api/projects").await?;
    if let Some(known) =
        projects.into_iter().find(|project| real(Path::new(text(&project["git_repo_path"]))) == root)
    {
        return Ok(known);
    }
    let name = root.file_name().map_or_else(|| root.to_string_lossy(), |name| name.to_string_lossy());
    let body = json!({"name": name, "git_repo_path": root, "use_existing_repo": true});
    let project: Value = client.post("/api/projects", &body).await?;
    notes.push(format!("new project {name} for {}", root.display()));
    Ok(project)
}

fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// An attempt by its id or by the beginning of it.
async fn find_attempt(client: &Client, named: &str) -> Result<String> {
    let named = named.to_lowercase();
    if named.parse::<uuid::Uuid>().is_ok() {
        return Ok(named);
    }
    if named.len() < 4 || !named.chars().all(|c| c.is_ascii_hexdigit() || c == '-') {
        bail!("--follow: '{named}' is no id of an attempt; give the id or at least its first 4 digits");
    }
    let attempts: Vec<Value> = client.get("/api/task-attempts").await?;
    let ids: Vec<&str> =
        attempts.iter().map(|attempt| text(&attempt["id"])).filter(|id| id.starts_with(&named)).collect();
    match ids.as_slice() {
        [id] => Ok((*id).to_owned()),
        [] => bail!("--follow: no attempt has an id that begins with '{named}'"),
        many => bail!("--follow: '{named}' is the beginning of {} ids: {}", many.len(), many.join(", ")),
    }
}

/// A title for people and a description, so that the agent reads the prompt as it was given: it is told the title and,
/// below it, the description. A shell takes the description alone.
fn describe(prompt: &str, title: Option<&str>, executor: Executor) -> (String, Option<String>) {
    let prompt = prompt.trim();
    if let Some(title) = title {
        return (title.to_owned(), Some(prompt.to_owned()));
    }
    let (first, rest) = prompt.split_once('\n').unwrap_or((prompt, ""));
    let (first, rest) = (first.trim(), rest.trim());
    if first.chars().count() > TITLE_CHARS {
        let cut: String = first.chars().take(TITLE_CHARS).collect();
        let cut = cut.rsplit_once(' ').map_or(cut.as_str(), |(words, _)| words);
        return (format!("{cut}…"), Some(prompt.to_owned()));
    }
    match (executor, rest) {
        (_, "") => (first.to_owned(), None),
        (Executor::Shell, _) => (first.to_owned(), Some(prompt.to_owned())),
        (_, rest) => (first.to_owned(), Some(rest.to_owned())),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_becomes_a_title_and_the_rest_of_it() {
        let some = |text: &str| Some(text.to_owned());
        let describe = |prompt: &str, executor| describe(prompt, None, executor);
        assert_eq!(describe("Fix it\n", Executor::ClaudeCode), ("Fix it".into(), None));
        assert_eq!(describe("Fix it\n\nIn a.rs", Executor::ClaudeCode), ("Fix it".into(), some("In a.rs")));
        assert_eq!(describe("ls\nwc", Executor::Shell), ("ls".into(), some("ls\nwc")));
        let long = "word ".repeat(40);
        let (title, description) = describe(&long, Executor::ClaudeCode);
        assert!(title.chars().count() <= TITLE_CHARS + 1 && title.ends_with("word…"), "{title}");
        assert_eq!(description.as_deref(), Some(long.trim()));
    }
}
