//! From rows to a bundle.
//!
//! Two generations are read alike: attempts with their processes, and workspaces with sessions that have processes;
//! projects with a path, and projects with repositories. Forge works in one repository per project: the first one is
//! used.

mod attempt;
mod landing;
mod shelf;

use std::collections::HashMap;

use forge_types::{Bundle, Millis, OldAttempt, OldProject, OldTask, TaskStatus};

use super::Database;
use super::cell::Record;
use super::logs::Logs;
use super::table::Tables;
use attempt::Attempts;
use shelf::Shelf;

pub(super) fn bundle(foreign: &Database, tables: &Tables, logs: &Logs) -> Bundle {
    let mut notes = Vec::new();
    let mut attempts = Attempts::read(tables, logs, &mut notes);
    let shelf = Shelf::new(foreign, tables);
    let tasks = tables.by("tasks", &["project_id"]);
    let mut projects = Vec::new();
    for record in tables.rows("projects") {
        let Some(mut project) = project(tables, record, &mut notes) else { continue };
        for task in tasks.get(&project.key).into_iter().flatten() {
            let Some(key) = task.key(&["id"]) else { continue };
            let attempts = attempts.of_task(&key);
            project.tasks.push(read_task(task, key, attempts, &shelf, &mut notes));
        }
        project.templates = shelf.templates(Some(&project.key));
        project.agents = shelf.agents(&project.key);
        projects.push(project);
    }
    place_lone_attempts(tables, attempts.rest(), &mut projects, &mut notes);
    Bundle {
        source: foreign.source.clone(),
        projects,
        tags: shelf.tags(),
        templates: shelf.templates(None),
        notes,
    }
}

fn born(record: &Record) -> Millis {
    record.time(&["created_at", "updated_at"]).unwrap_or_default()
}

fn changed(record: &Record) -> Millis {
    record.time(&["updated_at", "created_at"]).unwrap_or_default()
}

fn project(tables: &Tables, record: &Record, notes: &mut Vec<String>) -> Option<OldProject> {
    let key = record.key(&["id"])?;
    let name = record.text(&["name"]).unwrap_or_default();
    let repos = repos_of(tables, &key);
    let settings = repos.first().map_or(record, |(settings, _)| *settings);
    let path = match repos.as_slice() {
        [] => record.words(&["git_repo_path", "default_agent_working_dir"]),
        [(_, path), others @ ..] => {
            if !others.is_empty() {
                let others: Vec<_> = others.iter().map(|(_, path)| path.as_str()).collect();
                notes.push(format!(
                    "Project '{name}': only its first repository is imported; left out: {}",
                    others.join(", ")
                ));
            }
            Some(path.clone())
        }
    };
    let Some(git_repo_path) = path else {
        let count = tables.by("tasks", &["project_id"]).get(&key).map_or(0, Vec::len);
        notes.push(format!("Project '{name}' was left out with its {count} tasks: it has no repository"));
        return None;
    };
    let setting = |column: &str| settings.words(&[column]).or_else(|| record.words(&[column]));
    Some(OldProject {
        id: record.id(),
        key,
        name,
        git_repo_path,
        setup_script: setting("setup_script"),
        dev_script: setting("dev_script"),
        cleanup_script: setting("cleanup_script"),
        copy_files: setting("copy_files"),
        default_base_branch: setting("default_base_branch").or_else(|| setting("default_target_branch")),
        created_at: born(record),
        updated_at: changed(record),
        ..OldProject::default()
    })
}

/// The repositories of a project: where its settings are, and the path.
fn repos_of<'t>(tables: &'t Tables, project: &str) -> Vec<(&'t Record, String)> {
    let repos: HashMap<_, _> =
        tables.rows("repos").iter().filter_map(|repo| Some((repo.key(&["id"])?, repo))).collect();
    let links = tables
        .rows("project_repos")
        .iter()
        .filter(|link| link.key(&["project_id"]).as_deref() == Some(project));
    links
        .filter_map(|link| {
            let repo = repos.get(&link.key(&["repo_id"])?)?;
            // Scripts were first kept with the link and later with the repository.
            let settings = if link.words(&["setup_script", "dev_script", "cleanup_script"]).is_some() {
                link
            } else {
                repo
            };
            Some((settings, repo.words(&["path"])?))
        })
        .collect()
}

fn read_task(
    record: &Record,
    key: String,
    attempts: Vec<OldAttempt>,
    shelf: &Shelf<'_>,
    notes: &mut Vec<String>,
) -> OldTask {
    let title = record.text(&["title"]).unwrap_or_default();
    let status = record.text(&["status"]).unwrap_or_default();
    let status = status.parse().unwrap_or_else(|_| {
        notes.push(format!("Task '{title}': its status '{status}' is not known here; it is now 'todo'"));
        TaskStatus::Todo
    });
    OldTask {
        id: record.id(),
        images: shelf.images(&key),
        key,
        title,
        description: record.words(&["description"]),
        status,
        parent_attempt_key: record.key(&["parent_workspace_id", "parent_task_attempt"]),
        created_at: born(record),
        updated_at: changed(record),
        attempts,
    }
}

/// Later versions have workspaces without a task: each becomes a task of the project that has its repository.
fn place_lone_attempts(
    tables: &Tables,
    lone: Vec<(Option<String>, String, OldAttempt)>,
    projects: &mut Vec<OldProject>,
    notes: &mut Vec<String>,
) {
    let repos: HashMap<_, _> =
        tables.rows("repos").iter().filter_map(|repo| Some((repo.key(&["id"])?, repo))).collect();
    for (repo, title, attempt) in lone {
        let repo = repo.and_then(|key| Some((repos.get(&key)?, key)));
        let Some((path, repo, key)) = repo.and_then(|(repo, key)| Some((repo.words(&["path"])?, repo, key)))
        else {
            notes.push(format!(
                "Workspace '{title}' was left out: its task and its repository are not in the database"
            ));
            continue;
        };
        let task = OldTask {
            key: format!("workspace:{}", attempt.key),
            id: None,
            title,
            description: None,
            status: TaskStatus::InReview,
            parent_attempt_key: None,
            created_at: attempt.created_at,
            updated_at: attempt.updated_at,
            images: Vec::new(),
            attempts: vec![attempt],
        };
        match projects.iter_mut().find(|project| project.git_repo_path == path) {
            Some(project) => project.tasks.push(task),
            None => projects.push(OldProject {
                key: format!("repo:{key}"),
                name: repo.words(&["display_name", "name"]).unwrap_or_else(|| path.clone()),
                git_repo_path: path,
                created_at: born(repo),
                updated_at: changed(repo),
                tasks: vec![task],
                ..OldProject::default()
            }),
        }
    }
}
