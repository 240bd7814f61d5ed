//! From a prompt or an issue to a first run: which project, which agent, a new attempt.
//!
//! Invariant: except for the project of a new repository, nothing is created before all checks have passed.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use forge_types::wire::{StartedTask, TaskOfIssue};
use forge_types::{Attempt, Executor, Project, RegisteredProject};
use serde_json::{Map, Value, json};

use super::Flags;
use super::live::Begun;
use super::missing;
use crate::client::Client;
use crate::exit::Misused;
use crate::first_commit;
use crate::process::Process;
use crate::reference::{self, NotFound, short};

const TITLE_CHARS: usize = 100;

/// What the agent works on.
pub enum Work {
    Prompt(String),
    Issue(String),
}

pub async fn begin(client: &Client, flags: &Flags, work: &Work) -> Result<Begun> {
    let (since, mut notes) = (Instant::now(), Vec::new());
    let found = find_project(client, flags.project.as_deref(), &mut notes).await?;
    let RegisteredProject { project, first_commit } = found;
    let profile = flags.choice.find(client, project.id).await?;
    let options = [
        ("executor_profile_id", json!(profile)),
        ("base_branch", json!(flags.base)),
        ("auto_pr", json!(flags.auto_pr.then_some(true))),
        ("max_cost_usd", json!(flags.max_cost)),
    ];
    let mut options: Map<String, Value> =
        options.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let attempt = match work {
        Work::Prompt(prompt) => {
            let (title, description) = describe(prompt, flags.title.as_deref(), profile.executor);
            let task = json!({"project_id": project.id, "title": title, "description": description});
            options.insert("task".to_owned(), task);
            options.insert("use_worktree".to_owned(), json!(flags.no_worktree.then_some(false)));
            let path = "/api/tasks/create-and-start";
            client.post::<StartedTask>(path, &Value::Object(options)).await?.task_attempt
        }
        Work::Issue(issue) => take_up(client, &project, issue, options).await?,
    };
    let runs = Process::list(client, attempt.id).await?;
    let run = runs.into_iter().next().context("the attempt has no run")?;
    if let (None, false, Ok(dir)) = (&flags.project, flags.no_worktree, std::env::current_dir()) {
        notes.extend(missing::notes(&dir, &attempt.target_branch).await);
    }
    Ok(Begun { attempt, project, first_commit, run, notes, since })
}

/// Creates a task from an issue and starts it. An issue has one task; an earlier attempt of it is an error.
async fn take_up(
    client: &Client,
    project: &Project,
    issue: &str,
    mut options: Map<String, Value>,
) -> Result<Attempt> {
    match issue.trim_start_matches('#').parse::<i64>() {
        Ok(number) => options.insert("number".to_owned(), json!(number)),
        Err(_) => options.insert("url".to_owned(), json!(issue)),
    };
    options.insert("start".to_owned(), json!(true));
    let before = reference::attempts(client).await?;
    let path = format!("/api/projects/{}/tasks/from-issue", project.id);
    let made: TaskOfIssue = client.post(&path, &Value::Object(options)).await?;
    let Some(attempt) = made.task_attempt else {
        let task = short(made.task.id);
        anyhow::bail!("the task {task} was created from the issue, but could not be started");
    };
    if before.iter().any(|known| known.attempt.id == attempt.id) {
        let id = short(attempt.id);
        let text =
            format!("--issue: {issue} already has the attempt {id}; continue with: forge resume {id} \"…\"");
        return Err(Misused(text).into());
    }
    Ok(attempt)
}

/// By id, name, path or the current directory; a repository that Forge does not know yet becomes a project.
pub async fn find_project(
    client: &Client,
    named: Option<&str>,
    notes: &mut Vec<String>,
) -> Result<RegisteredProject> {
    let known = |project| RegisteredProject { project, first_commit: None };
    let path = match named.map(|named| (named, Path::new(named).is_dir())) {
        Some((named, false)) => return reference::project(client, named).await.map(known),
        Some((path, true)) => std::path::absolute(path)?,
        None => std::env::current_dir().context("the current directory does not exist")?,
    };
    let repo = match forge_git::Repo::open(&path).await {
        Ok(repo) => repo,
        Err(forge_git::GitError::NoRepository(_)) => {
            let text = format!(
                "{} is not in a git repository; change to one, name one with --project, or create one with `git init`",
                path.display()
            );
            return Err(NotFound(text).into());
        }
        Err(error) => return Err(error.into()),
    };
    if let Some(project) = reference::project_at(client, &path).await? {
        return Ok(known(project));
    }
    let root = std::fs::canonicalize(repo.path()).unwrap_or_else(|_| repo.path().to_owned());
    let name = root.file_name().map_or_else(|| root.to_string_lossy(), |name| name.to_string_lossy());
    first_commit::ask(&repo).await?;
    let body = json!({"name": name, "git_repo_path": root, "use_existing_repo": true});
    match client.post::<RegisteredProject>("/api/projects", &body).await {
        Ok(new) => {
            notes.push(format!("new project {name} for {}", root.display()));
            first_commit::report(new.first_commit.as_deref());
            Ok(new)
        }
        // Another command may have created it in the meantime.
        Err(error) => reference::project_at(client, &path).await?.map(known).ok_or(error),
    }
}

/// A title for people and a description, so that the agent reads the prompt unchanged: it gets the title and,
/// below it, the description. A shell gets only the description.
pub fn describe(prompt: &str, title: Option<&str>, executor: Executor) -> (String, Option<String>) {
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
