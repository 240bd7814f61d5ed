//! What a person means by a word: an id, the beginning of one, a name, `@last`.
//!
//! Invariant: a word stands for one thing or for none; where it fits several, they are named and nothing is chosen.
//! Only an agent's name and `@last` mean the newest of many. The repository of the present directory comes first.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use forge_types::{Millis, ProfileId};
use futures_util::future::try_join_all;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::client::{Client, Refused};

/// As many digits as the name of a worktree begins with.
pub const LEAST_DIGITS: usize = 4;

/// A word that stands for nothing, or for too much.
#[derive(Debug)]
pub struct NotFound(pub String);

impl std::fmt::Display for NotFound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotFound {}

#[derive(Clone, Debug, Deserialize)]
pub struct Project {
    pub id: String,
    pub name: String,
    pub git_repo_path: PathBuf,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Task {
    pub id: String,
    pub project_id: String,
    pub title: String,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Attempt {
    pub id: String,
    pub task_id: String,
    pub project_id: String,
    pub branch: String,
    pub target_branch: String,
    pub executor_profile_id: ProfileId,
    pub status: String,
    pub created_at: Millis,
    #[serde(default)]
    pub cost_usd: Option<f64>,
    #[serde(default)]
    pub worktree_path: Option<PathBuf>,
    /// Lists have it; of one attempt the server tells the whole task.
    #[serde(default)]
    pub task_title: String,
}

impl Attempt {
    /// The id as it is shown to people.
    pub fn short(&self) -> &str {
        short(&self.id)
    }

    /// Where people see it.
    pub fn page(&self, client: &Client) -> String {
        let Attempt { id, task_id, project_id, .. } = self;
        format!("{}/projects/{project_id}/tasks/{task_id}/attempts/{id}", client.base())
    }

    async fn all(client: &Client) -> Result<Vec<Attempt>> {
        client.get("/api/task-attempts").await
    }
}

/// The attempt that a command is about, and the form of its answer.
#[derive(clap::Args)]
pub struct Subject {
    /// The attempt: id or the beginning of it, branch, task, agent or @last
    attempt: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

impl Subject {
    pub async fn find(&self) -> Result<(Client, Attempt)> {
        let client = Client::find()?;
        let attempt = attempt(&client, &self.attempt).await?;
        Ok((client, attempt))
    }
}

/// As much of an id as people are shown.
pub fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

/// The project of a repository, by its path; `None` when Forge does not know it.
pub async fn project_at(client: &Client, path: &Path) -> Result<Option<Project>> {
    let Ok(repo) = forge_git::Repo::open(path).await else { return Ok(None) };
    let root = real(repo.path());
    let projects: Vec<Project> = client.get("/api/projects").await?;
    Ok(projects.into_iter().find(|project| real(&project.git_repo_path) == root))
}

/// The project of the present directory.
pub async fn project_here(client: &Client) -> Result<Option<Project>> {
    project_at(client, &std::env::current_dir().context("the present directory is gone")?).await
}

/// The project of the present directory, which has to be one.
pub async fn here_or_refuse(client: &Client) -> Result<Project> {
    let none = || {
        let help = "add it with `forge project add`, or name one";
        NotFound(format!("this directory is in no project of Forge; {help}")).into()
    };
    project_here(client).await?.ok_or_else(none)
}

/// A project by its id, the beginning of it, its name or its path.
pub async fn project(client: &Client, named: &str) -> Result<Project> {
    let projects: Vec<Project> = client.get("/api/projects").await?;
    let by_id = |project: &&Project| is_beginning(named, &project.id);
    let by_name = |project: &&Project| project.name.eq_ignore_ascii_case(named);
    let found: Vec<&Project> = match projects.iter().filter(by_id).collect::<Vec<_>>() {
        found if found.is_empty() => projects.iter().filter(by_name).collect(),
        found => found,
    };
    let label = |project: &Project| format!("{} {}", short(&project.id), project.name);
    if let Some(one) = only(named, "project", &found, label)? {
        return Ok(one.clone());
    }
    match project_at(client, Path::new(named)).await? {
        Some(project) => Ok(project),
        None => Err(nothing(named, "project", "`forge project list` shows them")),
    }
}

/// A task by its id, the beginning of it, its title, or through one of its attempts.
pub async fn task(client: &Client, named: &str) -> Result<Task> {
    if let Some(task) = titled(client, named).await? {
        return Ok(task);
    }
    match attempt(client, named).await {
        Ok(attempt) => client.get(&format!("/api/tasks/{}", attempt.task_id)).await,
        Err(error) if error.is::<NotFound>() => Err(nothing(named, "task", "`forge list tasks` shows them")),
        Err(error) => Err(error),
    }
}

/// An attempt by its id, the beginning of it, its branch or worktree, its task, its agent's name, or `@last`.
pub async fn attempt(client: &Client, named: &str) -> Result<Attempt> {
    if named.parse::<uuid::Uuid>().is_ok() {
        match client.get(&format!("/api/task-attempts/{}", named.to_lowercase())).await {
            Err(error) if error.downcast_ref::<Refused>().is_some_and(|refused| refused.status == 404) => {}
            other => return other,
        }
    }
    // Two requests, however many projects and attempts there are: this is what every command begins with.
    let (attempts, here) = tokio::try_join!(Attempt::all(client), project_here(client))?;
    if named == "@last" || named == "-" {
        return newest(&attempts, here.as_ref(), |_| true).ok_or_else(|| match &here {
            Some(project) => NotFound(format!("{} has no attempt yet", project.name)).into(),
            None => NotFound("there is no attempt yet".to_owned()).into(),
        });
    }
    let by_id: Vec<&Attempt> = attempts.iter().filter(|attempt| is_beginning(named, &attempt.id)).collect();
    let by_branch = || {
        let found = attempts.iter().filter(|attempt| is_branch(named, &attempt.branch)).collect();
        closest(found, here.as_ref(), |attempt| &attempt.project_id)
    };
    let found: Vec<&Attempt> = if by_id.is_empty() { by_branch() } else { by_id };
    let label = |attempt: &Attempt| format!("{} {}", attempt.short(), attempt.branch);
    if let Some(one) = only(named, "attempt", &found, label)? {
        return Ok(one.clone());
    }
    if let Some(one) = newest_of_task(named, &attempts, here.as_ref())? {
        return Ok(one.clone());
    }
    let of_agent = |attempt: &Attempt| is_agent(named, &attempt.executor_profile_id);
    if let Some(attempt) = newest(&attempts, here.as_ref(), of_agent) {
        return Ok(attempt);
    }
    match titled(client, named).await? {
        Some(task) => Err(NotFound(format!("the task '{}' has no attempt yet", task.title)).into()),
        None => Err(nothing(named, "attempt", "`forge list attempts` shows them")),
    }
}

/// The newest attempt of the task that is meant by its id, the beginning of it, or its title.
fn newest_of_task<'a>(
    named: &str,
    attempts: &'a [Attempt],
    here: Option<&Project>,
) -> Result<Option<&'a Attempt>> {
    let by_id = |attempt: &&Attempt| is_beginning(named, &attempt.task_id);
    let by_title = |attempt: &&Attempt| attempt.task_title.eq_ignore_ascii_case(named);
    let mut found: Vec<&Attempt> = attempts.iter().filter(by_id).collect();
    if found.is_empty() {
        found = closest(attempts.iter().filter(by_title).collect(), here, |attempt| &attempt.project_id);
    }
    // The first of each task is its newest.
    let mut seen = HashSet::new();
    found.retain(|attempt| seen.insert(attempt.task_id.clone()));
    only(named, "task", &found, |attempt| format!("{} {}", short(&attempt.task_id), attempt.task_title))
}

/// Those of the present directory's project, else all.
fn closest<'a, T>(found: Vec<&'a T>, here: Option<&Project>, of: impl Fn(&T) -> &String) -> Vec<&'a T> {
    let is_here = |one: &&&T| here.is_some_and(|project| project.id == *of(one));
    let near: Vec<&T> = found.iter().filter(is_here).copied().collect();
    if near.is_empty() { found } else { near }
}

/// The tasks of one project or of all, newest first in each; every project is asked at the same time.
pub async fn tasks<T: DeserializeOwned>(client: &Client, project: Option<&Project>) -> Result<Vec<T>> {
    let projects: Vec<Project> = match project {
        Some(project) => vec![project.clone()],
        None => client.get("/api/projects").await?,
    };
    let asked = projects.iter().map(|project| async move {
        client.get::<Vec<T>>(&format!("/api/tasks?project_id={}", project.id)).await
    });
    Ok(try_join_all(asked).await?.into_iter().flatten().collect())
}

/// A task by its id, the beginning of it, or its title.
async fn titled(client: &Client, named: &str) -> Result<Option<Task>> {
    if named.parse::<uuid::Uuid>().is_ok() {
        return match client.get(&format!("/api/tasks/{}", named.to_lowercase())).await {
            Err(error) if error.downcast_ref::<Refused>().is_some_and(|refused| refused.status == 404) => {
                Ok(None)
            }
            other => other.map(Some),
        };
    }
    let (tasks, here) = tokio::try_join!(tasks::<Task>(client, None), project_here(client))?;
    let by_id: Vec<&Task> = tasks.iter().filter(|task| is_beginning(named, &task.id)).collect();
    let by_title = || {
        let found = tasks.iter().filter(|task| task.title.eq_ignore_ascii_case(named)).collect();
        closest(found, here.as_ref(), |task| &task.project_id)
    };
    let found: Vec<&Task> = if by_id.is_empty() { by_title() } else { by_id };
    let label = |task: &Task| format!("{} {}", short(&task.id), task.title);
    Ok(only(named, "task", &found, label)?.cloned())
}

/// Lists are newest first.
fn newest(attempts: &[Attempt], here: Option<&Project>, fits: impl Fn(&Attempt) -> bool) -> Option<Attempt> {
    let is_here = |attempt: &Attempt| here.is_none_or(|project| project.id == attempt.project_id);
    attempts.iter().find(|attempt| is_here(attempt) && fits(attempt)).cloned()
}

pub fn is_beginning(named: &str, id: &str) -> bool {
    named.len() >= LEAST_DIGITS
        && named.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
        && id.starts_with(&named.to_ascii_lowercase())
}

/// A branch by its whole name or by its last part, which is the worktree's name too.
fn is_branch(named: &str, branch: &str) -> bool {
    !named.is_empty() && (branch == named || branch.rsplit('/').next() == Some(named))
}

/// An agent by its program, its variant, or both: `claude_code`, `code-review`, `CLAUDE_CODE:PLAN`.
fn is_agent(named: &str, profile: &ProfileId) -> bool {
    let plain = |text: &str| text.replace('-', "_").to_ascii_uppercase();
    let (named, executor) = (plain(named), profile.executor.to_string());
    match &profile.variant {
        Some(variant) => [plain(variant), format!("{executor}:{}", plain(variant))].contains(&named),
        None => named == executor,
    }
}

fn only<'a, T>(
    named: &str,
    kind: &str,
    found: &[&'a T],
    label: impl Fn(&T) -> String,
) -> Result<Option<&'a T>> {
    const SHOWN: usize = 5;
    match found {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        many => {
            let mut labels: Vec<String> = many.iter().take(SHOWN).map(|one| label(one)).collect();
            if many.len() > SHOWN {
                labels.push(format!("{} more", many.len() - SHOWN));
            }
            let text =
                format!("'{named}' fits {} {kind}s: {}; say more of it", many.len(), labels.join(", "));
            Err(NotFound(text).into())
        }
    }
}

fn nothing(named: &str, kind: &str, hint: &str) -> anyhow::Error {
    let short = named.len() < LEAST_DIGITS && named.bytes().all(|byte| byte.is_ascii_hexdigit());
    let rule = if short { format!(" (an id needs at least {LEAST_DIGITS} digits)") } else { String::new() };
    NotFound(format!("no {kind} is meant by '{named}'{rule}; {hint}")).into()
}

fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_known_by_its_beginning() {
        let id = "a1b2c3d4-0000-4000-8000-000000000000";
        for (named, is) in
            [("a1b2", true), ("A1B2C3D4-", true), ("a1b", false), ("a1b2x", false), ("b2c3", false)]
        {
            assert_eq!(is_beginning(named, id), is, "{named}");
        }
    }

    #[test]
    fn a_branch_is_known_by_its_name_or_its_worktrees() {
        for (named, is) in [("forge/a1b2-fix", true), ("a1b2-fix", true), ("fix", false), ("", false)] {
            assert_eq!(is_branch(named, "forge/a1b2-fix"), is, "{named}");
        }
    }

    #[test]
    fn an_agent_is_known_by_program_or_variant() {
        let plain: ProfileId = "CLAUDE_CODE".parse().unwrap();
        let named: ProfileId = "CLAUDE_CODE:CODE_REVIEW".parse().unwrap();
        assert!(is_agent("claude-code", &plain) && is_agent("CLAUDE_CODE", &plain));
        assert!(is_agent("code-review", &named) && is_agent("claude_code:code_review", &named));
        assert!(!is_agent("claude_code", &named) && !is_agent("review", &named));
    }

    #[test]
    fn several_are_named_and_none_is_chosen() {
        let found = ["one", "two"];
        let refs: Vec<&&str> = found.iter().collect();
        let error = only("x", "task", &refs, |text| (*text).to_owned()).unwrap_err();
        assert_eq!(error.to_string(), "'x' fits 2 tasks: one, two; say more of it");
    }
}
