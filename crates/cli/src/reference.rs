//! Finds what a person names: by an id, a prefix of one, a name, or `@last`.
//!
//! Invariant: a name matches one thing or none; if it matches several, the error lists them and nothing is chosen.
//! Only an agent's name and `@last` mean the newest of many. The repository of the current directory comes first; to
//! change something in another one, name it or give the id.

mod scope;

use std::collections::HashSet;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use forge_types::{Attempt, ListedAttempt, ProfileId, Project, ProjectId, Task, TaskSummary};
use futures_util::future::try_join_all;

use crate::client::{Client, Kind, kind_of};
pub use scope::{Deed, Meant, Place, Scope};

/// As many digits as a worktree's name begins with.
const LEAST_DIGITS: usize = 4;

/// A name that matches nothing, or too much.
#[derive(Debug)]
pub struct NotFound(pub String);

impl std::fmt::Display for NotFound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotFound {}

/// All attempts, newest first.
pub async fn attempts(client: &Client) -> Result<Vec<ListedAttempt>> {
    client.get("/api/task-attempts").await
}

/// Where people see an attempt.
pub fn page(client: &Client, Attempt { id, task_id, project_id, .. }: &Attempt) -> String {
    format!("{}/projects/{project_id}/tasks/{task_id}/attempts/{id}", client.base())
}

/// The attempt that a command is about, and the format of the output.
#[derive(clap::Args)]
pub struct Subject {
    /// The attempt: id or a prefix of it, branch, task, agent or @last
    attempt: String,
    #[command(flatten)]
    scope: Scope,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

impl Subject {
    pub async fn find(&self, deed: Deed) -> Result<(Client, Meant)> {
        let client = Client::find()?;
        let meant = attempt(&client, &self.attempt, &self.scope, deed).await?;
        Ok((client, meant))
    }
}

/// The part of an id that is shown to people.
pub fn short(id: impl Display) -> String {
    id.to_string().chars().take(8).collect()
}

/// The project of a repository, by its path; `None` when Forge does not know it.
pub async fn project_at(client: &Client, path: &Path) -> Result<Option<Project>> {
    let projects: Vec<Project> = client.get("/api/projects").await?;
    Ok(scope::at(&projects, path).await)
}

/// The project of the current directory.
pub async fn project_here(client: &Client) -> Result<Option<Project>> {
    project_at(client, &std::env::current_dir().context("the current directory does not exist")?).await
}

/// The project of the current directory, or an error.
pub async fn here_or_refuse(client: &Client) -> Result<Project> {
    let none = || {
        let help = "add it with `forge project add`, or name one";
        NotFound(format!("this directory does not belong to a Forge project; {help}")).into()
    };
    project_here(client).await?.ok_or_else(none)
}

/// A project by its id, a prefix of it, its name or its path.
pub async fn project(client: &Client, named: &str) -> Result<Project> {
    let scope = Scope { project: Some(named.to_owned()) };
    scope.place(client).await?.here.context("the project no longer exists")
}

/// A project by its id, a prefix of it, or its name.
fn named_in(projects: &[Project], named: &str) -> Result<Option<Project>> {
    let by_id = |project: &&Project| is_prefix(named, project.id);
    let by_name = |project: &&Project| project.name.eq_ignore_ascii_case(named);
    let found: Vec<&Project> = match projects.iter().filter(by_id).collect::<Vec<_>>() {
        found if found.is_empty() => projects.iter().filter(by_name).collect(),
        found => found,
    };
    let label = |project: &Project| format!("{} {}", short(project.id), project.name);
    Ok(only(named, "project", &found, label)?.cloned())
}

/// A task by its id, a prefix of it, its title, or one of its attempts, and its project.
pub async fn task(client: &Client, named: &str, scope: &Scope, deed: Deed) -> Result<(Task, Project)> {
    let place = scope.place(client).await?;
    if let Some(task) = titled(client, named, &place).await? {
        let project = place.project_of(task.project_id)?;
        if !is_prefix(named, task.id) {
            place.refuse_elsewhere(named, &short(task.id), &project, deed)?;
        }
        return Ok((task, project));
    }
    match find_attempt(named, attempts(client).await?, &place, deed)? {
        Some(Meant { attempt, project }) => {
            Ok((client.get(&format!("/api/tasks/{}", attempt.task_id)).await?, project))
        }
        None => Err(nothing(named, "task", "`forge list tasks` shows them")),
    }
}

/// An attempt by its id, a prefix of it, its branch or worktree, its task, its agent's name, or `@last`, and its
/// project.
pub async fn attempt(client: &Client, named: &str, scope: &Scope, deed: Deed) -> Result<Meant> {
    if named.parse::<uuid::Uuid>().is_ok() {
        let path = format!("/api/task-attempts/{}", named.to_lowercase());
        let (found, place) = tokio::join!(client.get::<Attempt>(&path), scope.place(client));
        let place = place?;
        match found {
            Err(error) if kind_of(&error) == Some(Kind::NotFound) => {}
            Ok(attempt) if !place.holds(attempt.project_id) => {}
            found => return place.meant(found?),
        }
    }
    // Two requests, however many projects and attempts there are: every command starts with this.
    let (attempts, place) = tokio::try_join!(attempts(client), scope.place(client))?;
    match find_attempt(named, attempts, &place, deed)? {
        Some(meant) => Ok(meant),
        None => Err(match titled(client, named, &place).await? {
            Some(task) => NotFound(format!("the task '{}' has no attempt yet", task.title)).into(),
            None => nothing(named, "attempt", "`forge list attempts` shows them"),
        }),
    }
}

fn find_attempt(
    named: &str,
    mut attempts: Vec<ListedAttempt>,
    place: &Place,
    deed: Deed,
) -> Result<Option<Meant>> {
    attempts.retain(|row| place.holds(row.attempt.project_id));
    let Some(ListedAttempt { attempt, .. }) = choose(named, &attempts, place, deed)? else { return Ok(None) };
    let meant = place.meant(attempt.clone())?;
    if !is_prefix(named, attempt.id) && !is_prefix(named, attempt.task_id) {
        place.refuse_elsewhere(named, &short(attempt.id), &meant.project, deed)?;
        place.note_elsewhere(&meant);
    }
    Ok(Some(meant))
}

fn is_newest(named: &str) -> bool {
    named == "@last" || named == "-"
}

/// The attempt with this name, among these, newest first.
fn choose<'a>(
    named: &str,
    rows: &'a [ListedAttempt],
    place: &Place,
    deed: Deed,
) -> Result<Option<&'a ListedAttempt>> {
    let is_near = |row: &&ListedAttempt| place.is_near(row.attempt.project_id, deed);
    if is_newest(named) {
        let newest = rows.iter().find(is_near);
        return newest.map(Some).ok_or_else(|| place.no_newest(named, deed));
    }
    let here = place.here.as_ref();
    let by_id: Vec<_> = rows.iter().filter(|row| is_prefix(named, row.attempt.id)).collect();
    let by_branch = || {
        let found = rows.iter().filter(|row| is_branch(named, &row.attempt.branch)).collect();
        closest(found, here, |row| row.attempt.project_id)
    };
    let found = if by_id.is_empty() { by_branch() } else { by_id };
    let label = |row: &ListedAttempt| format!("{} {}", short(row.attempt.id), row.attempt.branch);
    if let Some(one) = only(named, "attempt", &found, label)? {
        return Ok(Some(one));
    }
    if let Some(one) = newest_of_task(named, rows, here)? {
        return Ok(Some(one));
    }
    let of_agent: Vec<_> =
        rows.iter().filter(|row| is_agent(named, &row.attempt.executor_profile_id)).collect();
    match of_agent.iter().find(|row| is_near(row)) {
        Some(newest) => Ok(Some(newest)),
        None if here.is_none() && !of_agent.is_empty() => Err(place.no_newest(named, deed)),
        None => Ok(None),
    }
}

/// The newest attempt of the task with this id, prefix of an id, or title.
fn newest_of_task<'a>(
    named: &str,
    rows: &'a [ListedAttempt],
    here: Option<&Project>,
) -> Result<Option<&'a ListedAttempt>> {
    let mut found: Vec<_> = rows.iter().filter(|row| is_prefix(named, row.attempt.task_id)).collect();
    if found.is_empty() {
        let titled = rows.iter().filter(|row| row.task_title.eq_ignore_ascii_case(named)).collect();
        found = closest(titled, here, |row| row.attempt.project_id);
    }
    // The first of each task is its newest.
    let mut seen = HashSet::new();
    found.retain(|row| seen.insert(row.attempt.task_id));
    only(named, "task", &found, |row| format!("{} {}", short(row.attempt.task_id), row.task_title))
}

/// Those of the current directory's project, else all.
fn closest<'a, T>(found: Vec<&'a T>, here: Option<&Project>, of: impl Fn(&T) -> ProjectId) -> Vec<&'a T> {
    let is_here = |one: &&&T| here.is_some_and(|project| project.id == of(one));
    let near: Vec<&T> = found.iter().filter(is_here).copied().collect();
    if near.is_empty() { found } else { near }
}

/// The tasks of one project or of all, newest first in each; every project is asked at the same time.
pub async fn tasks(client: &Client, project: Option<&Project>) -> Result<Vec<TaskSummary>> {
    let projects: Vec<Project> = match project {
        Some(project) => vec![project.clone()],
        None => client.get("/api/projects").await?,
    };
    tasks_of(client, &projects).await
}

async fn tasks_of(client: &Client, projects: &[Project]) -> Result<Vec<TaskSummary>> {
    let asked = projects.iter().map(|project| async move {
        client.get::<Vec<_>>(&format!("/api/tasks?project_id={}", project.id)).await
    });
    Ok(try_join_all(asked).await?.into_iter().flatten().collect())
}

/// A task by its id, a prefix of it, or its title.
async fn titled(client: &Client, named: &str, place: &Place) -> Result<Option<Task>> {
    if named.parse::<uuid::Uuid>().is_ok() {
        return match client.get::<Task>(&format!("/api/tasks/{}", named.to_lowercase())).await {
            Err(error) if kind_of(&error) == Some(Kind::NotFound) => Ok(None),
            other => other.map(|task| Some(task).filter(|task| place.holds(task.project_id))),
        };
    }
    let tasks = tasks_of(client, &place.projects).await?.into_iter().map(|row| row.task);
    let tasks: Vec<Task> = tasks.filter(|task| place.holds(task.project_id)).collect();
    let by_id: Vec<&Task> = tasks.iter().filter(|task| is_prefix(named, task.id)).collect();
    let by_title = || {
        let found = tasks.iter().filter(|task| task.title.eq_ignore_ascii_case(named)).collect();
        closest(found, place.here.as_ref(), |task| task.project_id)
    };
    let found: Vec<&Task> = if by_id.is_empty() { by_title() } else { by_id };
    let label = |task: &Task| format!("{} {}", short(task.id), task.title);
    Ok(only(named, "task", &found, label)?.cloned())
}

pub fn is_prefix(named: &str, id: impl Display) -> bool {
    named.len() >= LEAST_DIGITS
        && named.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
        && id.to_string().starts_with(&named.to_ascii_lowercase())
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
                format!("'{named}' matches {} {kind}s: {}; be more specific", many.len(), labels.join(", "));
            Err(NotFound(text).into())
        }
    }
}

fn nothing(named: &str, kind: &str, hint: &str) -> anyhow::Error {
    let short = named.len() < LEAST_DIGITS && named.bytes().all(|byte| byte.is_ascii_hexdigit());
    let rule = if short { format!(" (an id needs at least {LEAST_DIGITS} digits)") } else { String::new() };
    NotFound(format!("no {kind} matches '{named}'{rule}; {hint}")).into()
}

fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const AT: &str = "2026-01-01T00:00:00Z";

    fn id_of(name: &str) -> ProjectId {
        ProjectId(uuid::Uuid::from_u128(name.bytes().map(u128::from).sum()))
    }

    fn project(name: &str) -> Project {
        let row = json!({
            "id": id_of(name), "name": name, "git_repo_path": format!("/{name}"), "created_at": AT, "updated_at": AT,
        });
        serde_json::from_value(row).unwrap()
    }

    fn place(here: Option<&str>, is_named: bool) -> Place {
        let projects = ["shop", "blog", "empty"].map(project).to_vec();
        Place { here: here.map(project), projects, is_named }
    }

    /// Newest first: the newest is of the blog.
    fn attempts() -> Vec<ListedAttempt> {
        let rows =
            [("b2b2b2b2", "blog", "Fix it"), ("a1a1a1a1", "shop", "Fix it"), ("c3c3c3c3", "shop", "Paint")];
        let row = |(id, project, title): (&str, &str, &str)| {
            let row = json!({
                "id": format!("{id}-0000-4000-8000-000000000000"),
                "task_id": format!("7777{}-0000-4000-8000-000000000000", &id[4..]), "status": "completed",
                "project_id": id_of(project), "branch": format!("forge/{id}"), "target_branch": "main",
                "executor": "CODEX", "executor_profile_id": {"executor": "CODEX"}, "worktree_deleted": false,
                "created_at": AT, "updated_at": AT, "task_title": title,
            });
            serde_json::from_value(row).unwrap()
        };
        rows.map(row).to_vec()
    }

    fn meant(named: &str, here: Option<&str>, deed: Deed) -> Result<Option<String>> {
        let found = find_attempt(named, attempts(), &place(here, false), deed)?;
        Ok(found.map(|meant| short(meant.attempt.id)))
    }

    #[test]
    fn a_change_to_the_newest_stays_in_the_current_repository() {
        for named in ["@last", "-", "codex"] {
            assert_eq!(meant(named, Some("shop"), Deed::Change).unwrap().unwrap(), "a1a1a1a1", "{named}");
            let refused = meant(named, None, Deed::Change).unwrap_err();
            assert!(refused.is::<NotFound>() && refused.to_string().contains("--project"), "{refused}");
            assert_eq!(meant(named, None, Deed::Look).unwrap().unwrap(), "b2b2b2b2", "{named}");
        }
        let none = meant("@last", Some("empty"), Deed::Change).unwrap_err().to_string();
        assert_eq!(none, "empty has no attempt yet");
        assert_eq!(meant("codex", Some("empty"), Deed::Change).unwrap(), None);
    }

    #[test]
    fn an_id_is_found_anywhere_and_a_name_changes_only_what_is_here() {
        for here in [None, Some("shop"), Some("blog")] {
            assert_eq!(meant("c3c3", here, Deed::Change).unwrap().unwrap(), "c3c3c3c3");
            for named in ["forge/c3c3c3c3", "Paint"] {
                assert_eq!(meant(named, here, Deed::Look).unwrap().unwrap(), "c3c3c3c3", "{named}");
                let changed = meant(named, here, Deed::Change);
                match here {
                    Some("shop") => assert_eq!(changed.unwrap().unwrap(), "c3c3c3c3", "{named}"),
                    _ => {
                        let refusal = changed.unwrap_err().to_string();
                        assert!(refusal.contains("(c3c3c3c3) or --project shop"), "{refusal}");
                    }
                }
            }
        }
        assert_eq!(meant("fix it", Some("shop"), Deed::Change).unwrap().unwrap(), "a1a1a1a1");
        let two = meant("fix it", None, Deed::Change).unwrap_err().to_string();
        assert!(two.contains("matches 2 tasks"), "{two}");
    }

    #[test]
    fn an_id_is_known_by_a_prefix() {
        let id = "a1b2c3d4-0000-4000-8000-000000000000";
        for (named, is) in
            [("a1b2", true), ("A1B2C3D4-", true), ("a1b", false), ("a1b2x", false), ("b2c3", false)]
        {
            assert_eq!(is_prefix(named, id), is, "{named}");
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
    fn several_matches_are_listed_and_none_is_chosen() {
        let found = ["one", "two"];
        let refs: Vec<&&str> = found.iter().collect();
        let error = only("x", "task", &refs, |text| (*text).to_owned()).unwrap_err();
        assert_eq!(error.to_string(), "'x' matches 2 tasks: one, two; be more specific");
    }
}
